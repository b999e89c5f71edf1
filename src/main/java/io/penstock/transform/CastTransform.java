// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.List;

/**
 * Casts a tensor from one dtype to another.
 *
 * <ul>
 *   <li>To a <b>float</b>: rounded once, to nearest even; subnormals are kept. Overflow becomes infinity in f64, f32,
 *       f16 and bf16; in f8e4m3 and f8e5m2 overflow and infinity become the largest finite number. NaN becomes the
 *       positive quiet NaN 7FF8…, 7FC0…, 7E00, 7FC0, 7F or 7F, without its payload. -0 keeps its sign.
 *   <li>From a float to an <b>integer</b>: towards zero; out-of-range values saturate, NaN becomes 0.
 *   <li>From an integer to an integer: the low bits, as in C, NumPy and PyTorch; widening sign-extends signed types.
 *   <li>To <b>bool</b>: 0 for zero, 1 for anything else, NaN included. From bool: 0 or 1, as the integer.
 * </ul>
 *
 * <p>A cast from a dtype to itself copies the bits. Results are bit-identical on every device.
 */
public final class CastTransform {
    private static final StructLayout LAYOUT = Word.struct("Cast",
            "source", "source_type", "target", "target_type", "count");
    private static final Word SOURCE = Word.of(LAYOUT, "source");
    private static final Word SOURCE_TYPE = Word.of(LAYOUT, "source_type");
    private static final Word TARGET = Word.of(LAYOUT, "target");
    private static final Word TARGET_TYPE = Word.of(LAYOUT, "target_type");
    private static final Word COUNT = Word.of(LAYOUT, "count");

    static final Kernel KERNEL = new Kernel("penstock_cast", LAYOUT, CastTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();
    private final DType from;
    private final DType to;

    /**
     * Creates a cast; all pairs of dtypes are supported.
     *
     * @param from the source dtype
     * @param to the target dtype
     */
    public CastTransform(DType from, DType to) {
        this.from = from;
        this.to = to;
        SOURCE_TYPE.set(arguments, from == to ? bits(from) : from);
        TARGET_TYPE.set(arguments, from == to ? bits(to) : to);
    }

    /**
     * A loader stage that casts one field, whatever its shape.
     *
     * @param field the field's name
     * @param to the target dtype
     * @return the stage; its single output replaces the field
     */
    public static DeviceStage stage(String field, DType to) {
        return new Stage(field, to);
    }

    /** The dtype whose elements are copied unchanged. */
    private static DType bits(DType dtype) {
        return switch (dtype.byteSize()) {
            case 1 -> DType.U8;
            case 2 -> DType.U16;
            case 4 -> DType.U32;
            default -> DType.U64;
        };
    }

    /**
     * Enqueues the cast.
     *
     * @param stream the stream
     * @param source address of the elements
     * @param count number of elements
     * @param target address of the cast elements, written
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(DeviceStream stream, long source, long count, long target) {
        if (Arguments.atLeast(0, "count", count) == 0) {
            return;
        }
        SOURCE.set(arguments, Arguments.address("source", source, from.byteSize()));
        TARGET.set(arguments, Arguments.address("target", target, to.byteSize()));
        COUNT.set(arguments, count);
        stream.launch(KERNEL, Kernel.blocksForItems(count), arguments);
    }

    private static void run(MemorySegment w) {
        DType from = SOURCE_TYPE.dtype(w);
        DType to = TARGET_TYPE.dtype(w);
        if (from.isFloat()) {
            castFloats(w, from, to);
        } else if (to.isInteger()) {
            RawMemory.convert(from, SOURCE.get(w), to, TARGET.get(w), COUNT.get(w));
        } else {
            castIntegers(w, from, to);
        }
    }

    private static void castFloats(MemorySegment w, DType from, DType to) {
        long source = SOURCE.get(w);
        long target = TARGET.get(w);
        long count = COUNT.get(w);
        FloatFormat encoder = to.isFloat() ? FloatFormat.of(to) : null;
        boolean toBf16 = from == DType.F32 && to == DType.BF16;
        boolean toF16 = from == DType.F32 && to == DType.F16;
        for (long i = 0; i < count; i++) {
            long bits = RawMemory.bits(from.byteSize(), source, i);
            long result;
            if (toBf16) {
                result = DType.bf16(Float.intBitsToFloat((int) bits));
            } else if (toF16) {
                result = FloatFormat.f16(Float.intBitsToFloat((int) bits));
            } else if (encoder != null) {
                result = encoder.encode(from.valueOf(bits));
            } else {
                double value = from.valueOf(bits);
                result = to == DType.BOOL ? truth(value) : integer(value, to);
            }
            RawMemory.setBits(to.byteSize(), target, i, result);
        }
    }

    private static void castIntegers(MemorySegment w, DType from, DType to) {
        long source = SOURCE.get(w);
        long target = TARGET.get(w);
        long count = COUNT.get(w);
        FloatFormat encoder = to.isFloat() ? FloatFormat.of(to) : null;
        for (long i = 0; i < count; i++) {
            long value = RawMemory.integer(from, source, i);
            boolean negative = value < 0 && from != DType.U64;
            RawMemory.setBits(to.byteSize(), target, i,
                    encoder != null ? encoder.encode(negative, negative ? -value : value, 0) : value != 0 ? 1 : 0);
        }
    }

    private static long truth(double value) {
        return value != 0 ? 1 : 0;
    }

    private static long integer(double value, DType to) {
        return switch (to) {
            case U8 -> (long) Math.clamp(value, 0.0, 0xFFp0);
            case I8 -> (long) Math.clamp(value, (double) Byte.MIN_VALUE, Byte.MAX_VALUE);
            case U16 -> (long) Math.clamp(value, 0.0, 0xFFFFp0);
            case I16 -> (long) Math.clamp(value, (double) Short.MIN_VALUE, Short.MAX_VALUE);
            case U32 -> (long) Math.clamp(value, 0.0, 0xFFFF_FFFFp0);
            case I32 -> (int) value;
            case U64 -> value < 0x1p63 ? Math.max(0, (long) value)
                    : value < 0x1p64 ? (long) (value - 0x1p63) ^ Long.MIN_VALUE : value > 0 ? -1 : 0;
            default -> (long) value;
        };
    }

    private record Stage(String field, DType to) implements DeviceStage {
        @Override
        public OpenStage open(Device device, SlabLayout fields) {
            int index = fields.indexOf(field);
            TensorSpec from = fields.fields().get(index);
            long mostBytes = fields.maxBytes().get(index) / from.dtype().byteSize() * to.byteSize();
            var layout = new SlabLayout(List.of(new TensorSpec(field, to, from.shape())), List.of(mostBytes));
            return new Field(index, new CastTransform(from.dtype(), to), layout);
        }
    }

    private record Field(int index, CastTransform cast, SlabLayout outputs) implements OpenStage {
        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            int rank = outputs.fields().getFirst().rank();
            for (int d = 0; d < rank; d++) {
                out.setDim(0, d, in.dim(index, d));
            }
            cast.enqueue(stream, in.address(index), in.elements(index), out.address(0));
        }
    }
}
