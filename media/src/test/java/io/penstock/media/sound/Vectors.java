// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.sun.management.ThreadMXBean;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reference values that numpy computed in f64 from the definitions, the signal that they are of, and how a step runs.
 */
final class Vectors {

    private Vectors() {
    }

    /** A chirp, a tone of 440 Hz, and noise of 5 percent by an integer generator. */
    static float[] signal(int rate, double seconds, double low, double high) {
        float[] samples = new float[(int) (rate * seconds)];
        long state = 1;
        for (int i = 0; i < samples.length; i++) {
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF;
            double noise = (double) (state >> 8) / (1 << 22) - 1;
            double t = (double) i / rate;
            samples[i] = (float) (0.45 * Math.sin(2 * Math.PI * (low * t + (high - low) * t * t / (2 * seconds)))
                    + 0.2 * Math.sin(2 * Math.PI * 440 * t) + 0.05 * noise);
        }
        return samples;
    }

    static float[] signal() {
        return signal(16_000, 1, 100, 7000);
    }

    /** The values of an {@code .npy} file of f32. */
    static float[] npy(String name) {
        try (InputStream in = Vectors.class.getResourceAsStream("/sound/" + name + ".npy")) {
            assertNotNull(in, name);
            ByteBuffer file = ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
            file.position(10 + file.getShort(8));
            float[] values = new float[file.remaining() / Float.BYTES];
            file.asFloatBuffer().get(values);
            return values;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Copies values to native memory that ends with them, at an address that is no multiple of a value's size. */
    static MemorySegment memory(float[] values) {
        MemorySegment memory = Arena.ofAuto().allocate(4L * values.length + 1).asSlice(1);
        MemorySegment.copy(values, 0, memory, JAVA_FLOAT_UNALIGNED, 0, values.length);
        return memory;
    }

    static float[] apply(SoundStep step, float[] values) throws IOException {
        return apply(step, values, new KeyedRandom(1, 2));
    }

    static float[] apply(SoundStep step, float[] values, KeyedRandom random) throws IOException {
        try (SoundStep.Applier session = step.open()) {
            return apply(step, session, values, random);
        }
    }

    static float[] apply(SoundStep step, SoundStep.Applier session, float[] values, KeyedRandom random)
            throws IOException {
        MemorySegment out = Arena.ofAuto().allocate(4 * step.valuesAfter(values.length));
        out.fill((byte) 0x5A);
        session.apply(memory(values), 0, values.length, random, out, 0);
        return out.toArray(JAVA_FLOAT_UNALIGNED);
    }

    /** The heap bytes that a call takes when the session is warm, the least of some. */
    static long heapBytes(SoundStep step, float[] values) throws IOException {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var random = new KeyedRandom(1, 2);
        MemorySegment in = memory(values);
        MemorySegment out = Arena.ofAuto().allocate(4 * step.valuesAfter(values.length));
        long least = Long.MAX_VALUE;
        try (SoundStep.Applier session = step.open()) {
            for (int i = 0; i < 20_000 && least > 0; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                session.apply(in, 0, values.length, random, out, 0);
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
        }
        return least;
    }
}
