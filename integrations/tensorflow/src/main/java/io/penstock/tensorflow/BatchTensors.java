// SPDX-License-Identifier: Apache-2.0
package io.penstock.tensorflow;

import io.penstock.loader.Batch;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.ByteDataBuffer;
import org.tensorflow.ndarray.buffer.DataBuffers;
import org.tensorflow.types.TBfloat16;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TFloat16;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.TUint16;
import org.tensorflow.types.TUint8;
import org.tensorflow.types.family.TType;

/**
 * The fields of a batch as TensorFlow's tensors. Each is a copy in TensorFlow's memory, so it stays valid after the
 * batch is closed.
 *
 * {@snippet :
 * try (Batch batch = loader.next(); BatchTensors tensors = BatchTensors.copyOf(batch)) {
 *     tensors.feed(session.runner(), "input_ids", "labels").addTarget(step).run();
 * }
 * }
 *
 * <p>The dtypes: {@code u8}, {@code u16}, {@code i32}, {@code i64}, {@code f16}, {@code bf16}, {@code f32}, {@code f64}
 * and {@code bool} become the same of TensorFlow. {@code i8} and {@code i16} are widened to {@code TInt32}, {@code u32}
 * to {@code TInt64}: TensorFlow for Java has no type for them. {@code u64} and the 8-bit floats are refused.
 *
 * <p>The batch must be in host memory. Not thread-safe.
 */
public final class BatchTensors implements AutoCloseable {

    /** A {@link ByteBuffer} holds less than 2 GiB. */
    private static final long CHUNK_BYTES = 1 << 30;

    private final Map<String, Tensor> tensors = new LinkedHashMap<>();

    private BatchTensors() {
    }

    /**
     * Copies all fields of a batch.
     *
     * @param batch the batch; may be closed afterwards
     * @return its tensors, to be closed by the caller
     * @throws IllegalArgumentException if TensorFlow has no type for a field's dtype; names the field
     * @throws IllegalStateException if the batch is closed
     * @throws UnsupportedOperationException if the batch is not in host memory
     */
    public static BatchTensors copyOf(Batch batch) {
        BatchTensors copies = new BatchTensors();
        try {
            for (TensorSpec field : batch.fields()) {
                copies.tensors.put(field.name(), copyOf(field.name(), batch.tensor(field.name())));
            }
            return copies;
        } catch (RuntimeException | Error e) {
            copies.close();
            throw e;
        }
    }

    private static Tensor copyOf(String field, io.penstock.memory.Tensor from) {
        Shape shape = Shape.of(from.shape());
        Class<? extends TType> type = type(field, from.dtype());
        Tensor to = Tensor.of(type, shape);
        try {
            ByteDataBuffer bytes = to.asRawTensor().data();
            if (to.numBytes() == from.byteSize()) {
                copy(from.segment(), bytes);
            } else if (type == TInt32.class) {
                copy(widenedToInts(from), bytes);
            } else {
                copy(widenedToLongs(from), bytes);
            }
            return to;
        } catch (RuntimeException | Error e) {
            to.close();
            throw e;
        }
    }

    private static Class<? extends TType> type(String field, DType dtype) {
        return switch (dtype) {
            case U8 -> TUint8.class;
            case U16 -> TUint16.class;
            case I8, I16, I32 -> TInt32.class;
            case U32, I64 -> TInt64.class;
            case F16 -> TFloat16.class;
            case BF16 -> TBfloat16.class;
            case F32 -> TFloat32.class;
            case F64 -> TFloat64.class;
            case BOOL -> TBool.class;
            default -> throw new IllegalArgumentException("field " + field + " is " + dtype
                    + ", which TensorFlow for Java has no type for; cast it before, for example by a map");
        };
    }

    private static void copy(MemorySegment from, ByteDataBuffer to) {
        for (long at = 0; at < from.byteSize(); at += CHUNK_BYTES) {
            long bytes = Math.min(CHUNK_BYTES, from.byteSize() - at);
            ByteBuffer chunk = from.asSlice(at, bytes).asByteBuffer().order(ByteOrder.nativeOrder());
            DataBuffers.of(chunk).copyTo(to.offset(at), bytes);
        }
    }

    private static MemorySegment widenedToInts(io.penstock.memory.Tensor from) {
        int[] wide = new int[Math.toIntExact(from.elementCount())];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = (int) from.getLong(i);
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect(Math.multiplyExact(wide.length, Integer.BYTES))
                .order(ByteOrder.nativeOrder());
        bytes.asIntBuffer().put(wide);
        return MemorySegment.ofBuffer(bytes);
    }

    private static MemorySegment widenedToLongs(io.penstock.memory.Tensor from) {
        long[] wide = new long[Math.toIntExact(from.elementCount())];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = from.getLong(i);
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect(Math.multiplyExact(wide.length, Long.BYTES))
                .order(ByteOrder.nativeOrder());
        bytes.asLongBuffer().put(wide);
        return MemorySegment.ofBuffer(bytes);
    }

    /**
     * Returns the tensor of a field.
     *
     * @param field the field's name
     * @return its tensor, which is closed with this
     * @throws IllegalArgumentException if the batch has no such field
     */
    public Tensor get(String field) {
        Tensor tensor = tensors.get(field);
        if (tensor == null) {
            throw new IllegalArgumentException("no field " + field + ", only " + tensors.keySet());
        }
        return tensor;
    }

    /**
     * Feeds fields to the placeholders of the same names.
     *
     * @param runner the run to feed
     * @param fields the fields' names
     * @return the runner
     * @throws IllegalArgumentException if the batch has no such field, or the graph no such operation
     */
    public Session.Runner feed(Session.Runner runner, String... fields) {
        for (String field : fields) {
            runner.feed(field, get(field));
        }
        return runner;
    }

    /** Frees the tensors. */
    @Override
    public void close() {
        tensors.values().forEach(Tensor::close);
    }
}
