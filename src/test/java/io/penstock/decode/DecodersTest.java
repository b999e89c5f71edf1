// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Values of records become the numbers that they stand for, and what stands for none is refused. */
class DecodersTest {

    private static final Column CLS = Column.bytes("cls", "cls");
    private static final Column JSON = Column.text("meta", "json");
    private static final short GREATEST_F16 = 0x7BFF;
    private static final Column NPY = Column.bytes("x.npy", "x.npy");

    @Test
    void theEncodingBehindTheLastDotChoosesTheDecoder() {
        for (String encoding : List.of("cls", "cls2", "class", "count", "index", "inx", "id", "CLS", "left.cls")) {
            assertEquals(new TensorSpec("c", DType.I64), Decoder.of(Column.bytes("c", encoding))
                    .field(Column.bytes("c", encoding)), encoding);
        }
        for (String encoding : List.of("txt", "text", "transcript", "json", "", "jpg", "seg.png", "cls.txt", "npy",
                "unheard-of")) {
            assertSame(Decoder.bytes(), Decoder.of(Column.bytes("c", encoding)), encoding);
        }
    }

    @Test
    void picklesAreRefusedByNameWhateverTheDecoder() {
        for (String encoding : List.of("pyd", "pickle", "pkl", "pth", "pt", "state.PTH")) {
            Column column = Column.bytes("c", encoding);
            for (org.junit.jupiter.api.function.Executable use : List.<org.junit.jupiter.api.function.Executable>of(
                    () -> Decoder.of(column), () -> Decoder.decimal(DType.I64).field(column),
                    () -> Decoder.npy(DType.F32, 1).field(column), () -> Decoder.numbers(DType.F32).field(column),
                    () -> Decoder.jsonNumber("a", DType.F32).field(column))) {
                String message = assertThrows(IllegalArgumentException.class, use).getMessage();
                assertTrue(message.contains("pickle") && message.contains(encoding), message);
            }
        }
    }

    @Test
    void numbersNeedNoDecoder() {
        Column numbers = Column.numbers("n", DType.F32, 3);
        for (Decoder decoder : List.of(Decoder.bytes(), Decoder.decimal(DType.I64), Decoder.numbers(DType.F32, 3),
                Decoder.npy(DType.F32, 3), Decoder.jsonNumber("a", DType.F32))) {
            assertThrows(IllegalArgumentException.class, () -> decoder.field(numbers), decoder.toString());
        }
        assertThrows(IllegalArgumentException.class, () -> Decoder.of(numbers));
    }

    @Test
    void bytesComeAsTheyAreStored() throws IOException {
        byte[] text = "Grüße, 世界".getBytes(StandardCharsets.UTF_8);
        assertArrayEquals(text, Decoding.decode(Decoder.bytes(), Column.text("t", "txt"), text));
        assertArrayEquals(new byte[0], Decoding.decode(Decoder.bytes(), Column.text("t", "txt"), new byte[0]));
        assertEquals("t: u8[*]", Decoder.bytes().field(Column.text("t", "txt")).toString());
    }

    @Test
    void decimalDigitsAreReadAsPythonReadsThem() throws IOException {
        assertEquals(7, decimal("7"));
        assertEquals(-12, decimal(" \t-12\r\n"));
        assertEquals(5, decimal("+0005\n"));
        assertEquals(0, decimal("-0"));
        assertEquals(Long.MAX_VALUE, decimal("9223372036854775807"));
        assertEquals(Long.MIN_VALUE, decimal("-9223372036854775808"));
        for (String wrong : List.of("", " ", "-", "1.0", "1 2", "0x10", "9223372036854775808",
                "-9223372036854775809", "99999999999999999999", "abc\n\u0000", "1e3", "--1")) {
            String message = Decoding.refusal(Decoder.decimal(DType.I64), CLS, wrong.getBytes(StandardCharsets.UTF_8));
            assertTrue(message.contains("an integer in decimal digits that i64 holds"), message);
        }
    }

    @Test
    void decimalDigitsAgreeWithTheJdkOnRandomNumbersOfEveryIntegerType() throws IOException {
        long seed = 20261121;
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (DType dtype : List.of(DType.U8, DType.I8, DType.U16, DType.I16, DType.U32, DType.I32, DType.U64,
                DType.I64)) {
            int bits = 8 * dtype.byteSize();
            BigInteger least = dtype.isUnsigned() ? BigInteger.ZERO : BigInteger.ONE.shiftLeft(bits - 1).negate();
            BigInteger most = BigInteger.ONE.shiftLeft(dtype.isUnsigned() ? bits : bits - 1).subtract(BigInteger.ONE);
            for (int i = 0; i < 200; i++) {
                BigInteger value = i == 0 ? least : i == 1 ? most : i == 2 ? most.add(BigInteger.ONE)
                        : i == 3 ? least.subtract(BigInteger.ONE)
                        : BigInteger.valueOf(random.nextLong()).shiftRight(random.nextInt(64))
                                .shiftLeft(random.nextInt(3));
                byte[] text = value.toString().getBytes(StandardCharsets.US_ASCII);
                if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
                    Decoding.refusal(Decoder.decimal(dtype), CLS, text);
                    continue;
                }
                byte[] decoded = Decoding.decode(Decoder.decimal(dtype), CLS, text);
                for (int b = 0; b < decoded.length; b++) {
                    assertEquals(value.shiftRight(8 * b).byteValue(), decoded[b], dtype + " " + value);
                }
            }
        }
    }

    private static long decimal(String text) throws IOException {
        return little(Decoding.decode(Decoder.decimal(DType.I64), CLS, text.getBytes(StandardCharsets.UTF_8)))
                .getLong();
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void aNumberWithinJsonIsFoundByTheNamesOnTheWayToIt() throws IOException {
        byte[] text = """
                {"label": 3, "boxes": [{"x": -0.5}, {"x": 1e3}], "ok": true, "big": 18446744073709551615,
                 "name": "n", "a.b": 1, "": {"": 9}}""".getBytes(StandardCharsets.UTF_8);
        assertEquals(3, little(Decoding.decode(Decoder.jsonNumber("label", DType.I64), JSON, text)).getLong());
        assertEquals(3, Decoding.decode(Decoder.jsonNumber("label", DType.U8), JSON, text)[0]);
        assertEquals(3f, little(Decoding.decode(Decoder.jsonNumber("label", DType.F32), JSON, text)).getFloat());
        assertEquals(-0.5, little(Decoding.decode(Decoder.jsonNumber("boxes.0.x", DType.F64), JSON, text)).getDouble());
        assertEquals(Float.floatToFloat16(1000), little(Decoding.decode(
                Decoder.jsonNumber("boxes.1.x", DType.F16), JSON, text)).getShort());
        assertEquals(-1, little(Decoding.decode(Decoder.jsonNumber("big", DType.U64), JSON, text)).getLong());
        assertEquals(1, Decoding.decode(Decoder.jsonNumber("ok", DType.BOOL), JSON, text)[0]);
        assertEquals(9, Decoding.decode(Decoder.jsonNumber(".", DType.I8), JSON, text)[0]);
        assertEquals(12,
                Decoding.decode(Decoder.jsonNumber("", DType.I8), JSON, "12".getBytes(StandardCharsets.UTF_8))[0]);
        for (Decoder wrong : List.of(Decoder.jsonNumber("none", DType.I64), Decoder.jsonNumber("boxes", DType.I64),
                Decoder.jsonNumber("boxes.2.x", DType.I64), Decoder.jsonNumber("boxes.-1", DType.I64),
                Decoder.jsonNumber("boxes.0.x", DType.I64), Decoder.jsonNumber("name", DType.F32),
                Decoder.jsonNumber("ok", DType.I64), Decoder.jsonNumber("label", DType.BOOL),
                Decoder.jsonNumber("big", DType.I64),
                Decoder.jsonNumber("label.x", DType.I64), Decoder.jsonNumber("", DType.I64))) {
            assertTrue(Decoding.refusal(wrong, JSON, text).contains(", expected "), wrong.toString());
        }
        assertTrue(Decoding.refusal(Decoder.jsonNumber("a", DType.I8), JSON, "{\"a\"".getBytes(StandardCharsets.UTF_8))
                .contains("does not parse"));
        assertThrows(IllegalArgumentException.class, () -> Decoder.jsonNumber("a", DType.BF16));
    }

    @Test
    void aJsonNumberOf16BitsIsTheNearestOneAlsoBesideTheMiddleOfTwo() throws IOException {
        double[] edges = {0, 0x1p-24, 0x1p-14, 0.333251953125, 1, 1000, 2048, 65504};
        for (double number : edges) {
            short bits = Float.floatToFloat16((float) number);
            BigDecimal below = new BigDecimal(Float.float16ToFloat(bits));
            BigDecimal above = bits == GREATEST_F16 ? new BigDecimal(65536)
                    : new BigDecimal(Float.float16ToFloat((short) (bits + 1)));
            double middle = below.add(above).divide(BigDecimal.TWO).doubleValue();
            short even = (short) (bits + (bits & 1));
            assertF16(bits, Math.nextDown(middle));
            assertF16(even, middle);
            assertF16((short) (bits + 1), Math.nextUp(middle));
        }
        assertF16((short) 0, Double.MIN_VALUE);
        assertF16((short) 0x7C00, Double.MAX_VALUE);
    }

    private static void assertF16(short expected, double number) throws IOException {
        for (int sign = 1; sign >= -1; sign -= 2) {
            String text = Double.toString(sign * number);
            short found = little(Decoding.decode(Decoder.jsonNumber("", DType.F16), JSON,
                    text.getBytes(StandardCharsets.UTF_8))).getShort();
            assertEquals((short) (sign == 1 ? expected : expected | 0x8000), found, text);
        }
    }

    @Test
    void rawNumbersMustFitTheirShape() throws IOException {
        byte[] value = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        Column raw = Column.bytes("r", "bin");
        assertArrayEquals(value, Decoding.decode(Decoder.numbers(DType.U16, 3, 2), raw, value));
        assertArrayEquals(value, Decoding.decode(Decoder.numbers(DType.U16, TensorSpec.VARIABLE, 3), raw, value));
        assertEquals("r: u16[*,3]", Decoder.numbers(DType.U16, TensorSpec.VARIABLE, 3).field(raw).toString());
        assertTrue(Decoding.refusal(Decoder.numbers(DType.U16, 7), raw, value).contains("12 bytes of numbers"));
        assertTrue(Decoding.refusal(Decoder.numbers(DType.F64, TensorSpec.VARIABLE), raw, value)
                .contains("multiple of 8"));
        assertThrows(IllegalArgumentException.class, () -> Decoder.numbers(DType.U8, TensorSpec.VARIABLE, 0));
    }

    @Test
    void everyNpyThatTheStoreReadsDecodesToTheSameElements() throws IOException {
        int read = 0;
        for (Fixtures.Entry entry : Fixtures.entries("npy").filter(e -> e.expect().equals("read")).toList()) {
            byte[] npy = Files.readAllBytes(entry.path());
            Decoder decoder = Decoder.npyLike(npy);
            try (TensorStore store = TensorStore.open(entry.path())) {
                TensorSpec spec = store.tensors().getFirst();
                assertEquals(new TensorSpec("x.npy", spec.dtype(), spec.shape()), decoder.field(NPY));
                byte[] elements = store.tensor(0).segment().toArray(ValueLayout.JAVA_BYTE);
                assertArrayEquals(elements, Decoding.decode(decoder, NPY, npy), entry.toString());
                if (spec.rank() > 0) {
                    long[] rows = spec.shape();
                    rows[0] = TensorSpec.VARIABLE;
                    assertArrayEquals(elements, Decoding.decode(Decoder.npy(spec.dtype(), rows), NPY, npy));
                }
                DType other = spec.dtype() == DType.F32 ? DType.F64 : DType.F32;
                assertTrue(Decoding.refusal(Decoder.npy(other, spec.shape()), NPY, npy).contains("expected"));
                assertTrue(Decoding.refusal(Decoder.npy(spec.dtype(), 1, 2, 3, 4, 5), NPY, npy)
                        .contains("an array: "));
            }
            read++;
        }
        assertTrue(read > 10, read + " fixtures");
    }

    @Test
    void aMalformedNpyIsRefused() throws IOException {
        int refused = 0;
        for (Fixtures.Entry entry : Fixtures.entries("npy").filter(e -> e.expect().equals("reject")).toList()) {
            byte[] npy = Files.readAllBytes(entry.path());
            assertTrue(Decoding.refusal(Decoder.npy(DType.F32, TensorSpec.VARIABLE), NPY, npy).startsWith(".npy: "));
            assertThrows(MalformedStoreException.class, () -> Decoder.npyLike(npy));
            refused++;
        }
        assertTrue(refused > 5, refused + " fixtures");
    }
}
