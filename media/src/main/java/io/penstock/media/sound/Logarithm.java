// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import java.nio.IntBuffer;

/**
 * Logarithms of positive finite {@code f32}, by integers and multiplications alone, so that C2 vectorizes them and
 * other processors give the same bits; for one thread.
 *
 * <p>With {@code x = 2^e · (1 + f)}, {@code 1 + f} from √½ to √2, and {@code s = f / (2 + f)}: the logarithm is {@code
 * e · ln 2 + 2 (s + s³/3 + s⁵/5 + s⁷/7 + s⁹/9)}, all multiplied by 1 / ln(base).
 */
final class Logarithm {

    private static final int MANTISSA_BITS = 23;
    private static final int MANTISSA = (1 << MANTISSA_BITS) - 1;
    private static final int BIAS = 127;
    /** The mantissa of √2. */
    private static final int ROOT_OF_TWO = 0x3504F3;
    private static final int INFINITY = 0x7F800000;

    /** The logarithm of 2: so many bits that its product with an exponent is exact, and the rest. */
    private final float octave;
    private final float octaveRest;
    private final float[] terms = new float[5];
    private final int[] bits = new int[LaneSums.LANES];

    /** Logarithms of a base: e or 10. */
    Logarithm(double base) {
        double unit = 1 / StrictMath.log(base);
        octave = Math.round(StrictMath.log(2) * unit * (1 << 15)) * 0x1p-15f;
        octaveRest = (float) (StrictMath.log(2) * unit - octave);
        for (int k = 0; k < terms.length; k++) {
            terms[k] = (float) (2 * unit / (2 * k + 1));
        }
    }

    /**
     * Replaces values by their logarithms.
     *
     * @return whether all are finite
     */
    boolean apply(float[] values, int lanes) {
        int most = 0;
        for (int l = 0; l < lanes; l++) {
            bits[l] = Float.floatToRawIntBits(values[l]);
            most = Math.max(most, bits[l] & Integer.MAX_VALUE);
        }
        apply(bits, values, lanes, octave, octaveRest, terms);
        return most < INFINITY;
    }

    /** Appends what the kernel reads. */
    void putTables(IntBuffer words) {
        LaneSums.put(words, octave, octaveRest);
        LaneSums.put(words, terms);
    }

    private static void apply(int[] bits, float[] out, int lanes, float octave, float rest, float[] terms) {
        float a = terms[0];
        float b = terms[1];
        float c = terms[2];
        float d = terms[3];
        float e = terms[4];
        for (int l = 0; l < lanes; l++) {
            int mantissa = bits[l] & MANTISSA;
            int above = (ROOT_OF_TWO - mantissa) >>> 31;                // 1 if 1 + f is halved
            float exponent = (float) ((bits[l] >> MANTISSA_BITS) - BIAS + above);
            float f = (float) ((mantissa - (above << MANTISSA_BITS)) * (2 - above)) * 0x1p-24f;
            float s = f / (2 + f);
            float q = s * s;
            out[l] = exponent * octave + (exponent * rest + s * (a + q * (b + q * (c + q * (d + q * e)))));
        }
    }
}
