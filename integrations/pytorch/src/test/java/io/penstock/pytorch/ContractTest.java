// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.bridge.AliasContract;
import io.penstock.bridge.Bridge;
import io.penstock.bridge.DLPackContract;
import io.penstock.bridge.DTypeContract;
import io.penstock.bridge.GpuContract;
import io.penstock.bridge.LeakContract;
import io.penstock.bridge.LifetimeContract;
import io.penstock.bridge.StreamBridge;
import io.penstock.bridge.StreamContract;
import io.penstock.device.DeviceStream;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.loader.DataLoader;

/** What every bridge has to keep, with real torch on the CPU. */
class ContractTest implements DTypeContract, AliasContract, LifetimeContract, LeakContract, DLPackContract,
        StreamContract, GpuContract {

    private final Torches torches = new Torches();

    @Override
    public Bridge bridge() {
        return torches;
    }

    @Override
    public Bridge.Taken take(DLPackCapsule capsule) {
        return new Torches.DLPackTorch(TorchDLPack.take(capsule));
    }

    @Override
    public Class<? extends StreamBridge> onGpu() {
        return OnGpu.class;
    }

    /** Torch's tensors over the memory of a GPU. This torch is built without CUDA, so they are not called so. */
    public static final class OnGpu implements StreamBridge {

        private DataLoader last;
        private TorchBatches batches;

        /** Called by the contract. */
        public OnGpu() {
        }

        @Override
        public Bridge.Alias take(DataLoader loader, DeviceStream stream) {
            if (loader != last) {
                last = loader;
                batches = TorchBatches.unreadable(loader, stream);
            }
            return new Torches.Taken(batches.next());
        }
    }
}
