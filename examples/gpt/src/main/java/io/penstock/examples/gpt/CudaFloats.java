// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.device.DeviceBuffer;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Floats in device memory, from element {@code offset} of a buffer on. */
record CudaFloats(CudaMemory memory, DeviceBuffer buffer, long offset, int size) implements Floats {

    static long address(Floats floats) {
        CudaFloats device = (CudaFloats) floats;
        return device.buffer.address() + device.offset * Float.BYTES;
    }

    @Override
    public CudaFloats slice(int from, int size) {
        Objects.checkFromIndexSize(from, size, this.size);
        return new CudaFloats(memory, buffer, offset + from, size);
    }

    @Override
    public void copyTo(float[] target) {
        memory.copyToHost(buffer, offset * Float.BYTES, MemorySegment.ofArray(target).asSlice(0, 4L * size));
    }

    @Override
    public void copyFrom(float[] source) {
        memory.copyToDevice(buffer, offset * Float.BYTES, MemorySegment.ofArray(source).asSlice(0, 4L * size));
    }
}
