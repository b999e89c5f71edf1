// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Storage;
import org.bytedeco.pytorch.StringOptional;
import org.bytedeco.pytorch.Tensor;

/**
 * A tensor in memory of a loader's slot, which its batch makes and frees. It has no deallocator of JavaCPP, so neither
 * a {@code PointerScope} nor garbage collection frees it, and closing it does nothing.
 *
 * <p>Each batch has a torch tensor with a storage of its own, so what is done to it, such as asking for a gradient, is
 * not seen in the next. When the batch ends, the Java object has no address any more, and JavaCPP throws where it is
 * used. Views, and what autograd has saved, share the storage: if any is left, the storage loses its memory and torch
 * throws where it is read.
 */
final class SlotTensor extends Tensor {

    SlotTensor() {
        super((Pointer) null);
    }

    /** Gives the object a new tensor, behind {@link #release}. */
    void lend(long dataAddress, MemorySegment sizes, MemorySegment strides, DType dtype, int gpu,
            MemorySegment result) {
        address = Torch.tensorOf(dataAddress, sizes, strides, dtype, gpu, result);
    }

    /**
     * Deletes the tensor, and takes the memory from what else shares its storage.
     *
     * @param message what the error says where that memory is read
     */
    void release(StringOptional message) {
        long tensor = address;
        if (tensor == 0) {
            return;
        }
        try {
            Storage storage = storage();
            // Autograd saves the tensor itself, views have tensors of their own.
            if (use_count() > 1 || storage.use_count() > 1) {
                storage.unsafeGetStorageImpl().release_data_and_set_meta_custom_data_ptr_error_msg_(message);
            }
        } finally {
            address = 0;
            Torch.delete(tensor);
        }
    }

    /** What {@link #release} takes, for all batches of a loader; no scope frees it. */
    static StringOptional closed(String loader) {
        return new StringOptional("the batch of loader '" + loader + "' that this tensor views is closed: use it before"
                + " close(), or clone() it").retainReference();
    }
}
