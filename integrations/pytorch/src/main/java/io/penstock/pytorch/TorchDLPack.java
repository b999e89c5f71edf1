// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.dlpack.DLDevice;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.dlpack.DLPackTensor;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.DeviceOptional;
import org.bytedeco.pytorch.LongArrayRef;
import org.bytedeco.pytorch.PointerConsumer;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.DeviceType;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * Tensors of torch as DLPack's, and the other way round, without a copy: for other libraries, and for tensors that
 * outlive their batch.
 *
 * {@snippet :
 * Tensor kept = TorchDLPack.take(batch.batch().toDLPack("input_ids"));     // holds the slot until it is freed
 * try (DLPackCapsule capsule = TorchDLPack.give(logits)) {
 *     consume(capsule.address());
 *     capsule.handOver();
 * }
 * }
 *
 * <p>Both sides are row-major and packed. Nothing here orders work on a GPU: that is the capsule's stream.
 */
public final class TorchDLPack {

    /** What torch's tensors hold, by their first byte. Several may have the same. */
    private static final Map<Long, Queue<DLPackTensor>> TAKEN = new ConcurrentHashMap<>();
    private static final Deleter DELETER = new Deleter();

    private TorchDLPack() {
    }

    /** Called by torch when the last view of a tensor is freed, on any thread. */
    private static final class Deleter extends PointerConsumer {

        @Override
        @SuppressWarnings("resource")
        public void call(Pointer data) {
            long address = data == null ? 0 : data.address();
            DLPackTensor[] freed = new DLPackTensor[1];
            TAKEN.computeIfPresent(address, (_, held) -> {
                freed[0] = held.poll();
                return held.isEmpty() ? null : held;
            });
            if (freed[0] != null) {
                freed[0].close();
            }
        }
    }

    /**
     * Takes a capsule as a tensor of torch. Its memory is returned to the producer when the tensor and all its views
     * are freed.
     *
     * @param capsule the capsule, which is handed over
     * @return the tensor, which the caller or a {@code PointerScope} closes
     * @throws IllegalArgumentException if the tensor is rejected, as {@link DLPackTensor#take} says; it is returned to
     *     its producer
     */
    public static Tensor take(DLPackCapsule capsule) {
        return take(capsule.handOver(), capsule.form());
    }

    /**
     * Takes a struct of another library as a tensor of torch.
     *
     * @param address a {@code DLManagedTensorVersioned *} or {@code DLManagedTensor *}
     * @param form which of the two it is
     * @return the tensor, which the caller or a {@code PointerScope} closes
     * @throws IllegalArgumentException as {@link #take(DLPackCapsule)}
     */
    public static Tensor take(long address, DLPackForm form) {
        DLPackTensor taken = DLPackTensor.take(address, form);
        TensorSpec spec = taken.spec("DLPack tensor");
        long data = taken.address();
        TAKEN.compute(data, (_, held) -> {
            Queue<DLPackTensor> all = held == null ? new ConcurrentLinkedQueue<>() : held;
            all.add(taken);
            return all;
        });
        try (org.bytedeco.pytorch.Device device = torchDevice(taken.device());
                TensorOptions options = new TensorOptions(device);
                ScalarTypeOptional type = new ScalarTypeOptional(scalarType(spec.dtype()));
                TensorOptions typed = options.dtype(type);
                DeviceOptional on = new DeviceOptional(device);
                LongPointer dims = new LongPointer(spec.shape());
                LongArrayRef sizes = new LongArrayRef(dims, spec.rank());
                Pointer memory = new Place(data)) {
            return torch.from_blob(memory, sizes, DELETER, typed, on);
        } catch (RuntimeException | Error e) {
            TAKEN.computeIfPresent(data, (_, held) -> held.remove(taken) && held.isEmpty() ? null : held);
            taken.close();
            throw e;
        }
    }

    /**
     * Gives a tensor of torch away as a DLPack tensor.
     *
     * @param tensor a contiguous tensor; may be closed afterwards
     * @return a capsule, which holds the tensor's memory
     * @throws IllegalArgumentException if the tensor is not contiguous, or of a type or on a device that the engine
     *     does not have
     */
    public static DLPackCapsule give(Tensor tensor) {
        if (!tensor.is_contiguous()) {
            throw new IllegalArgumentException("the tensor is not contiguous, expected a row-major and packed one:"
                    + " give away its contiguous()");
        }
        DType dtype = Torch.dtype(tensor.scalar_type().value);
        long[] shape = new long[Math.toIntExact(tensor.dim())];
        for (int d = 0; d < shape.length; d++) {
            shape[d] = tensor.size(d);
        }
        DLDevice device = device(tensor);
        Tensor held = new Tensor(tensor);
        held.retainReference();                         // a PointerScope must not free it
        try (Pointer data = held.data_ptr()) {
            return DLPackCapsule.of(device, data == null ? 0 : data.address(), dtype, shape, DLPackForm.VERSIONED,
                    held::releaseReference);
        } catch (RuntimeException | Error e) {
            held.releaseReference();
            throw e;
        }
    }

    private static DLDevice device(Tensor tensor) {
        try (org.bytedeco.pytorch.Device device = tensor.device(); BytePointer name = device.str()) {
            if (device.is_cuda()) {
                return DLDevice.cuda(device.index());
            }
            if (!device.is_cpu()) {
                throw new IllegalArgumentException("the tensor is on " + name.getString()
                        + ", expected the CPU or CUDA");
            }
            return DLDevice.CPU;
        }
    }

    private static org.bytedeco.pytorch.Device torchDevice(DLDevice device) {
        return switch (device.type()) {
            case CPU, CUDA_HOST -> new org.bytedeco.pytorch.Device(DeviceType.CPU);
            case CUDA, CUDA_MANAGED -> new org.bytedeco.pytorch.Device(DeviceType.CUDA, (byte) device.id());
        };
    }

    private static ScalarType scalarType(DType dtype) {
        int number = Torch.number(dtype);
        for (ScalarType type : ScalarType.values()) {
            if (type.value == number) {
                return type;
            }
        }
        throw new IllegalStateException("no ScalarType has the number " + number + " of " + dtype);
    }

    /** An address as JavaCPP passes it on. */
    private static final class Place extends Pointer {
        Place(long at) {
            address = at;
        }
    }
}
