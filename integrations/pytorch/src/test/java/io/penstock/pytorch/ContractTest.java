// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.bridge.AliasContract;
import io.penstock.bridge.Bridge;
import io.penstock.bridge.DLPackContract;
import io.penstock.bridge.DTypeContract;
import io.penstock.bridge.LeakContract;
import io.penstock.bridge.LifetimeContract;
import io.penstock.dlpack.DLPackCapsule;

/** What every bridge has to keep, with real torch on the CPU. */
class ContractTest implements DTypeContract, AliasContract, LifetimeContract, LeakContract, DLPackContract {

    private final Torches torches = new Torches();

    @Override
    public Bridge bridge() {
        return torches;
    }

    @Override
    public Bridge.Taken take(DLPackCapsule capsule) {
        return new Torches.DLPackTorch(TorchDLPack.take(capsule));
    }
}
