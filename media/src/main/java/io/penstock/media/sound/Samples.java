// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;

/** The shapes that steps take, and samples in arrays. */
final class Samples {

    /** What an array can hold, less what steps put around the samples. */
    static final int MOST = 1 << 30;
    private static final float[] ZEROS = new float[1024];

    private Samples() {
    }

    /** Checks that a field is {@code f32} of a number of dimensions. */
    static void check(TensorSpec in, int rank, String expected) {
        if (in.dtype() != DType.F32 || in.rank() != rank) {
            throw new IllegalArgumentException("found " + in + ", expected " + expected);
        }
    }

    /** Returns the field of samples with another number of them, or with a varying one if the field's varies. */
    static TensorSpec ofSamples(TensorSpec in, long samples) {
        return new TensorSpec(in.name(), DType.F32, in.isVariable() ? TensorSpec.VARIABLE : samples);
    }

    /** Returns a count of values as an array's length. */
    static int count(long values) {
        if (values < 0 || values > MOST) {
            throw new CodecException(values + " values of sound", "at most " + MOST);
        }
        return (int) values;
    }

    /** Checks a parameter. */
    static int positive(int value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException("found " + value + " for " + what + ", expected 1 or more");
        }
        return value;
    }

    static void read(MemorySegment in, long offset, float[] to, int at, int count) {
        MemorySegment.copy(in, JAVA_FLOAT_UNALIGNED, offset, to, at, count);
    }

    static void write(float[] from, int at, int count, MemorySegment out, long offset) {
        MemorySegment.copy(from, at, out, JAVA_FLOAT_UNALIGNED, offset, count);
    }

    static void writeZeros(long count, MemorySegment out, long offset) {
        for (long done = 0; done < count; done += ZEROS.length) {
            write(ZEROS, 0, (int) Math.min(ZEROS.length, count - done), out, offset + done * Float.BYTES);
        }
    }
}
