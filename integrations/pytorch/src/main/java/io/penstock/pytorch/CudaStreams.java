// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import org.bytedeco.pytorch.cuda.CUDAStream;
import org.bytedeco.pytorch.global.torch.DeviceType;
import org.bytedeco.pytorch.global.torch_cuda;

/**
 * Makes torch work on a stream of the engine, for {@link TorchBatches#of(io.penstock.loader.DataLoader, DeviceStream)}.
 * It needs the presets for CUDA (classifier {@code linux-x86_64-gpu}) and is the only class here that does.
 *
 * <p>Not run yet: no machine with a GPU has built this. What it relies on is how {@code c10::cuda} names streams: the
 * id of a stream that is not torch's own is its {@code cudaStream_t}.
 */
public final class CudaStreams {

    private CudaStreams() {
    }

    /**
     * Makes torch work on a stream of the engine in this thread.
     *
     * @param device the stream's device
     * @param stream an open stream
     */
    public static void use(Device device, DeviceStream stream) {
        byte index = (byte) device.ordinal();
        torch_cuda.setCurrentCUDAStream(CUDAStream.unpack3(stream.handle(), index, DeviceType.CUDA));
    }
}
