// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TensorTest {

    private static Tensor of(DType dtype, long bits) {
        byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(bits).array();
        return Tensor.of(MemorySegment.ofArray(bytes), dtype, 1);
    }

    /** A binary float by its definition: (-1)^s · 2^(e - bias) · (1 + f), without the special top exponent. */
    private static double byDefinition(int bits, int exponentBits, int fractionBits) {
        int bias = (1 << exponentBits - 1) - 1;
        int exponent = bits >> fractionBits & (1 << exponentBits) - 1;
        double fraction = (bits & (1 << fractionBits) - 1) / Math.pow(2, fractionBits);
        double magnitude = exponent == 0 ? fraction * Math.pow(2, 1 - bias)
                : (1 + fraction) * Math.pow(2, exponent - bias);
        return (bits >> exponentBits + fractionBits & 1) == 0 ? magnitude : -magnitude;
    }

    @Test
    void everyE4M3CodeHasTheValueOfTheOcpSpecification() {
        for (int code = 0; code < 256; code++) {
            double found = of(DType.F8E4M3, code).getDouble(0);
            if ((code & 0x7F) == 0x7F) {
                assertTrue(Double.isNaN(found), "code " + code);
            } else {
                assertEquals(byDefinition(code, 4, 3), found, "code " + code);
            }
        }
        // Table 1 of the OCP 8-bit specification.
        assertEquals(448, of(DType.F8E4M3, 0b0_1111_110).getDouble(0));
        assertEquals(Math.pow(2, -6), of(DType.F8E4M3, 0b0_0001_000).getDouble(0));
        assertEquals(Math.pow(2, -9), of(DType.F8E4M3, 0b0_0000_001).getDouble(0));
    }

    @Test
    void everyE5M2CodeHasTheValueOfTheOcpSpecification() {
        for (int code = 0; code < 256; code++) {
            double found = of(DType.F8E5M2, code).getDouble(0);
            if ((code & 0x7F) == 0x7C) {
                assertEquals(code == 0x7C ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY, found);
            } else if ((code & 0x7C) == 0x7C) {
                assertTrue(Double.isNaN(found), "code " + code);
            } else {
                assertEquals(byDefinition(code, 5, 2), found, "code " + code);
            }
        }
        assertEquals(57_344, of(DType.F8E5M2, 0b0_11110_11).getDouble(0));
        assertEquals(Math.pow(2, -16), of(DType.F8E5M2, 0b0_00000_01).getDouble(0));
    }

    @Test
    void everyF16AndBf16CodeHasTheValueOfItsDefinition() {
        for (int code = 0; code < 65_536; code++) {
            double half = of(DType.F16, code).getDouble(0);
            if ((code & 0x7C00) == 0x7C00) {
                assertEquals((code & 0x3FF) != 0, Double.isNaN(half));
                assertEquals((code & 0x3FF) == 0, Double.isInfinite(half));
            } else {
                assertEquals(byDefinition(code, 5, 10), half, "f16 " + code);
            }
            double brain = of(DType.BF16, code).getDouble(0);
            if ((code & 0x7F80) == 0x7F80) {
                assertEquals((code & 0x7F) != 0, Double.isNaN(brain));
                assertEquals((code & 0x7F) == 0, Double.isInfinite(brain));
            } else {
                assertEquals(byDefinition(code, 8, 7), brain, "bf16 " + code);
            }
        }
    }

    @Test
    void integersKeepTheirSignAndWidth() {
        assertEquals(0xFE, of(DType.U8, -2).getLong(0));
        assertEquals(-2, of(DType.I8, -2).getLong(0));
        assertEquals(0xFFFE, of(DType.U16, -2).getLong(0));
        assertEquals(-2, of(DType.I16, -2).getLong(0));
        assertEquals(0xFFFF_FFFEL, of(DType.U32, -2).getLong(0));
        assertEquals(-2, of(DType.I32, -2).getLong(0));
        assertEquals(-2, of(DType.I64, -2).getLong(0));
        assertEquals(-2, of(DType.U64, -2).getLong(0));
        assertEquals(1, of(DType.BOOL, 1).getLong(0));
        assertEquals(0x0201, of(DType.U16, 0x0201).getDouble(0));
        assertEquals(Math.PI, of(DType.F64, Double.doubleToLongBits(Math.PI)).getDouble(0));
        assertEquals((float) Math.E, of(DType.F32, Float.floatToIntBits((float) Math.E)).getDouble(0));
        for (long bits : new long[] {0, 1, Long.MAX_VALUE, Long.MIN_VALUE, -1, -1025, 0xFFFF_FFFF_FFFF_FBFFL,
            0x8000_0000_0000_0401L}) {
            assertEquals(new BigInteger(Long.toUnsignedString(bits)).doubleValue(), of(DType.U64, bits).getDouble(0),
                    Long.toHexString(bits));
        }
        assertThrows(UnsupportedOperationException.class, () -> of(DType.F32, 0).getLong(0));
        assertThrows(IndexOutOfBoundsException.class, () -> of(DType.F32, 0).getDouble(1));
    }

    /** What an array takes, by the Javadoc of {@link Tensor}. */
    private static final Map<String, String> TAKEN = Map.of(
            "byte[]", "i8 u8 bool",
            "int[]", "i8 u8 bool i16 u16 i32",
            "long[]", "i8 u8 bool i16 u16 i32 u32 i64",
            "float[]", "i8 u8 bool i16 u16 f8e4m3 f8e5m2 f16 bf16 f32",
            "double[]", "i8 u8 bool i16 u16 f8e4m3 f8e5m2 f16 bf16 f32 i32 u32 f64");

    private static Object array(String type, int length) {
        return switch (type) {
            case "byte[]" -> new byte[length];
            case "int[]" -> new int[length];
            case "long[]" -> new long[length];
            case "float[]" -> new float[length];
            default -> new double[length];
        };
    }

    private static int copy(Tensor tensor, Object array) {
        return switch (array) {
            case byte[] bytes -> tensor.copyTo(bytes);
            case int[] ints -> tensor.copyTo(ints);
            case long[] longs -> tensor.copyTo(longs);
            case float[] floats -> tensor.copyTo(floats);
            default -> tensor.copyTo((double[]) array);
        };
    }

    /** All values of narrow dtypes, and random bits with the extremes of wide ones. */
    private static Tensor values(DType dtype) {
        int count = dtype.byteSize() == 1 ? 256 : 65_536;
        byte[] bytes = new byte[count * dtype.byteSize()];
        var random = new SplittableRandom(11);
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            switch (dtype.byteSize()) {
                case 1 -> buffer.put((byte) i);
                case 2 -> buffer.putShort((short) i);
                case 4 -> buffer.putInt(i == 0 ? Integer.MIN_VALUE : i == 1 ? -1 : random.nextInt());
                default -> buffer.putLong(i == 0 ? Long.MIN_VALUE : i == 1 ? -1 : random.nextLong());
            }
        }
        return Tensor.of(MemorySegment.ofArray(bytes), dtype, 2, count / 2);
    }

    @Test
    void anArrayTakesEveryValueOfADtypeUnchangedOrRefusesTheDtypeByName() {
        for (DType dtype : DType.values()) {
            Tensor tensor = values(dtype);
            int count = (int) tensor.elementCount();
            for (String type : TAKEN.keySet()) {
                Object array = array(type, count + 1);
                if (!List.of(TAKEN.get(type).split(" ")).contains(dtype.toString())) {
                    String message = assertThrows(IllegalArgumentException.class, () -> copy(tensor, array))
                            .getMessage();
                    assertTrue(message.contains(type + " does not hold every " + dtype), message);
                    assertEquals(dtype == DType.U64, message.contains("segment()"), message);
                    continue;
                }
                assertEquals(count, copy(tensor, array));
                for (int i = 0; i < count; i++) {
                    Number found = (Number) Array.get(array, i);
                    if (dtype.isFloat()) {
                        assertEquals(tensor.getDouble(i), found.doubleValue(), dtype + " to " + type);
                    } else {
                        long expected = dtype == DType.U8 && type.equals("byte[]") ? (byte) tensor.getLong(i)
                                : tensor.getLong(i);
                        assertEquals(0, BigDecimal.valueOf(expected).compareTo(new BigDecimal(found.toString())),
                                dtype + " to " + type + ": " + expected + ", " + found);
                    }
                }
                assertEquals(0, ((Number) Array.get(array, count)).intValue(), "what follows stays as it is");
            }
        }
    }

    @Test
    void anArrayThatIsTooShortIsRefusedAndOneThatIsLongerIsFilledAtItsStart() {
        Tensor tensor = of(DType.U16, 7);
        int[] longer = {1, 2, 3};
        assertEquals(1, tensor.copyTo(longer));
        assertArrayEquals(new int[] {7, 2, 3}, longer);
        String message = assertThrows(IllegalArgumentException.class, () -> tensor.copyTo(new int[0])).getMessage();
        assertTrue(message.contains("int[] of 0 elements, expected 1"), message);
    }

    @Test
    void rowsAreViewsOfTheirMemory() {
        byte[] bytes = new byte[24];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        Tensor tensor = Tensor.of(MemorySegment.ofArray(bytes), DType.U8, 2, 3, 4);
        Tensor row = tensor.row(1).row(2);
        assertArrayEquals(new long[] {4}, row.shape());
        assertEquals(20, row.getLong(0));
        bytes[20] = 99;
        assertEquals(99, row.getLong(0));
        assertEquals(99, row.row(0).getLong(0));
        assertEquals("u8[2,3,4]", tensor.toString());
        assertThrows(IndexOutOfBoundsException.class, () -> tensor.row(2));
        assertThrows(IllegalStateException.class, () -> row.row(0).row(0));
    }

    @Test
    void aTensorThatItsMemoryHasNoRoomForIsRefused() {
        MemorySegment memory = MemorySegment.ofArray(new byte[16]);
        assertEquals(16, Tensor.of(memory, DType.U16, 8).byteSize());
        assertEquals(2, Tensor.of(memory, DType.U16).byteSize());
        assertEquals(0, Tensor.of(memory, DType.U16, Long.MAX_VALUE, 0, Long.MAX_VALUE).byteSize());
        assertThrows(IllegalArgumentException.class, () -> Tensor.of(memory, DType.U16, 9));
        assertThrows(IllegalArgumentException.class, () -> Tensor.of(memory, DType.U16, -1));
        assertThrows(IllegalArgumentException.class, () -> Tensor.of(memory, DType.U16, 1L << 32, 1L << 32));
        assertThrows(IllegalArgumentException.class, () -> Tensor.of(memory, DType.U16, 1L << 62));
    }

    @Test
    void aSpecRefusesSizesThatOverflowAndNegativeDimensions() {
        assertEquals(Long.MAX_VALUE, new TensorSpec("x", DType.U8, Long.MAX_VALUE).byteSize());
        assertThrows(IllegalArgumentException.class, () -> new TensorSpec("x", DType.U16, Long.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> new TensorSpec("x", DType.U8, 1L << 31, 1L << 32));
        assertThrows(IllegalArgumentException.class, () -> new TensorSpec("x", DType.U8, 3, -1));
        assertThrows(IllegalArgumentException.class, () -> new TensorSpec("x", DType.U8, -2));
        assertEquals(0, new TensorSpec("x", DType.F64, 1L << 40, 0).byteSize());
        TensorSpec variable = new TensorSpec("ids", DType.I64, TensorSpec.VARIABLE, 3);
        assertTrue(variable.isVariable());
        assertEquals(24, variable.rowBytes());
        assertEquals("ids: i64[*,3]", variable.toString());
        assertThrows(IllegalStateException.class, variable::byteSize);
        assertEquals(new TensorSpec("ids", DType.I64, 5, 3), variable.withLength(5));
        assertFalse(variable.equals(variable.withLength(5)));
    }

    @Test
    void everyDTypeIsFoundByItsName() {
        for (DType dtype : DType.values()) {
            assertEquals(dtype, DType.of(dtype.toString()));
        }
        assertTrue(assertThrows(IllegalArgumentException.class, () -> DType.of("float32")).getMessage()
                .contains("float32"));
    }

    @Test
    void aValueIsSetByIndexAndReadBackWhereItBelongs() {
        Tensor matrix = Tensor.of(MemorySegment.ofArray(new byte[24]), DType.F32, 2, 3);
        matrix.set(2.5, 1, 2);
        matrix.set(7, 0, 1);
        float[] values = new float[6];
        matrix.copyTo(values);
        assertArrayEquals(new float[] {0, 7, 0, 0, 0, 2.5f}, values);
        assertThrows(IndexOutOfBoundsException.class, () -> matrix.set(1.0, 0, 3));
        assertThrows(IndexOutOfBoundsException.class, () -> matrix.set(1.0, -1, 0));
        assertThrows(IllegalArgumentException.class, () -> matrix.set(1.0, 5));
        Tensor scalar = Tensor.of(MemorySegment.ofArray(new byte[8]), DType.I64);
        scalar.set(Long.MIN_VALUE);
        assertEquals(Long.MIN_VALUE, scalar.getLong(0));
    }

    @Test
    void anIntegerTensorTakesExactlyTheValuesOfItsDtype() {
        for (DType dtype : List.of(DType.U8, DType.I8, DType.U16, DType.I16, DType.U32, DType.I32)) {
            int bits = 8 * dtype.byteSize();
            long least = dtype.isUnsigned() ? 0 : -(1L << bits - 1);
            long most = least + (1L << bits) - 1;
            Tensor one = of(dtype, 0);
            for (long value : new long[] {least, 0, 1, most}) {
                one.copyFrom(new long[] {value});
                assertEquals(value, one.getLong(0), dtype + " " + value);
            }
            assertThrows(IllegalArgumentException.class, () -> one.set(least - 1, 0), dtype.toString());
            assertThrows(IllegalArgumentException.class, () -> one.set(most + 1, 0), dtype.toString());
            assertThrows(IllegalArgumentException.class, () -> one.set(0.5, 0), dtype.toString());
        }
        Tensor truth = of(DType.BOOL, 0);
        truth.set(1, 0);
        assertEquals(1, truth.getLong(0));
        assertThrows(IllegalArgumentException.class, () -> truth.set(2, 0));
    }

    @Test
    void anArrayIsCopiedWholeOrRefused() {
        Tensor floats = Tensor.of(MemorySegment.ofArray(new byte[12]), DType.F32, 3);
        floats.copyFrom(new float[] {1, -2, 0.5f});
        assertEquals(List.of(1.0, -2.0, 0.5), List.of(floats.getDouble(0), floats.getDouble(1), floats.getDouble(2)));
        floats.copyFrom(new int[] {4, 5, 6});
        assertEquals(5, floats.getDouble(1));
        assertThrows(IllegalArgumentException.class, () -> floats.copyFrom(new float[2]));
        Tensor bytes = Tensor.of(MemorySegment.ofArray(new byte[2]), DType.U8, 2);
        bytes.copyFrom(new byte[] {-1, 3});
        assertEquals(255, bytes.getLong(0));
        Tensor shorts = Tensor.of(MemorySegment.ofArray(new byte[4]), DType.U16, 2);
        shorts.copyFrom(new short[] {-1, 3});
        assertEquals(65535, shorts.getLong(0));
        assertThrows(IllegalArgumentException.class, () -> shorts.copyFrom(new int[] {1, -1}));
        Tensor doubles = Tensor.of(MemorySegment.ofArray(new byte[16]), DType.F64, 2);
        doubles.copyFrom(new double[] {Math.PI, Double.NEGATIVE_INFINITY});
        assertEquals(Math.PI, doubles.getDouble(0));
    }

    @Test
    void aBfloat16IsTheNearestOneAndOfTwoTheEven() {
        // Halfway between two neighbors: 1 + 2^-8 goes down to 1, 1 + 3·2^-8 goes up to 1 + 2^-6.
        double[][] cases = {{1 + 0x1p-8, 1}, {1 + 3 * 0x1p-8, 1 + 0x1p-6}, {1 + 0x1p-8 + 0x1p-20, 1 + 0x1p-7},
            {-3, -3}, {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY}, {Double.NaN, Double.NaN}};
        for (double[] each : cases) {
            Tensor one = of(DType.BF16, 0);
            one.set(each[0], 0);
            assertEquals(each[1], one.getDouble(0), "of " + each[0]);
        }
    }
}
