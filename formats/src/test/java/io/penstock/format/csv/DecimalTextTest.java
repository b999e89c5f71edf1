// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Numbers are those of the JDK, bit by bit. */
class DecimalTextTest {

    private static final int NUMBERS = 100_000;

    private final DecimalText number = new DecimalText();

    private void check(String text) {
        byte[] bytes = Arrays.copyOf((text + "\n").getBytes(ISO_8859_1), text.length() + 1 + RowReader.PADDING_BYTES);
        assertEquals(text.length(), number.read(bytes, 0, '.'), text);
        assertEquals(Double.doubleToRawLongBits(Double.parseDouble(text)),
                Double.doubleToRawLongBits(number.doubleValue(bytes)), text);
        assertEquals(Float.floatToRawIntBits(Float.parseFloat(text)),
                Float.floatToRawIntBits(number.floatValue(bytes)), text);
    }

    @Test
    void doublesAndFloatsAreTheNearestOnes() {
        Random random = new Random(11);
        for (int i = 0; i < NUMBERS; i++) {
            double value = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(value)) {
                check(Double.toString(value));
            }
            check(Float.toString(Math.abs(random.nextFloat()) * (float) Math.pow(10, random.nextInt(60) - 30)));
            check(random.nextLong(1L << 1 + random.nextInt(62)) + "e" + (random.nextInt(700) - 370));
            check(random.nextInt(1000) + "." + random.nextLong(1L << 1 + random.nextInt(62)));
        }
    }

    @Test
    void halfWaysAreRoundedToEven() {
        Random random = new Random(12);
        for (int i = 0; i < NUMBERS / 10; i++) {
            long mantissa = (1L << 53) + random.nextLong(1L << 53);
            check(new BigDecimal(2 * mantissa + 1).toPlainString());
            float value = Math.abs(Float.intBitsToFloat(random.nextInt()));
            if (Float.isFinite(value)) {
                check(new BigDecimal(value).add(new BigDecimal(Math.nextUp(value)
                        < Float.POSITIVE_INFINITY ? Math.nextUp(value) : value))
                        .divide(new BigDecimal(2)).toString());
            }
        }
    }

    @Test
    void whatIsNoNumberIsNone() {
        for (String text : new String[] {"", "-", "+", ".", "-.", "e5", "1e", "1e+", "x", "--1"}) {
            byte[] bytes = Arrays.copyOf((text + "\n").getBytes(ISO_8859_1), 64);
            int end = number.read(bytes, 0, '.');
            assertEquals(-1, end, text);
        }
    }

    @Test
    void integersAreThoseOf64Bits() {
        for (String text : new String[] {"9223372036854775807", "-9223372036854775808", "0", "-0", "+7",
                "000000000000000000000000012", "123456789012345678"}) {
            byte[] bytes = Arrays.copyOf((text + "\n").getBytes(ISO_8859_1), 64);
            number.read(bytes, 0, '.');
            assertEquals(true, number.isLong(bytes), text);
            assertEquals(Long.parseLong(text), number.longValue(), text);
        }
        for (String text : new String[] {"9223372036854775808", "-9223372036854775809", "1.0", "1e3"}) {
            byte[] bytes = Arrays.copyOf((text + "\n").getBytes(ISO_8859_1), 64);
            number.read(bytes, 0, '.');
            assertEquals(false, number.isLong(bytes), text);
        }
    }
}
