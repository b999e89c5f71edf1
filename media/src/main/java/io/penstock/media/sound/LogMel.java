// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.device.DeviceStage;
import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * The log-mel spectrogram that Whisper takes: {@code f32[n]} of 16 kHz becomes {@code f32[bands, n / 160]}, {@code
 * f32[80, 3000]} of 30 seconds. Pad or cut to 30 seconds before ({@link FixedLength}): values depend on the clip's
 * loudest.
 *
 * <p>Periodic Hann windows of 400 samples every 160, mirrored at the ends; power; Slaney's mel filters of one area from
 * 0 to 8 kHz; {@code log10(max(x, 1e-10))}; not below the clip's maximum less 8; {@code (x + 4) / 4}. Results are
 * within 2e-5 of the definition in {@code f64} for a chirp with noise, 1.3e-4 for a clean one, as torch's are. A clip
 * with a sample that is not finite, or so large that its power is not, is a bad sample. Frames of zeros alone cost
 * nothing.
 *
 * <p>Workers compute it as a step, or the device as a {@link #stage}, with the same bits.
 */
public final class LogMel implements SoundStep {

    private static final int RATE = 16_000;
    private static final int SIZE = 400;
    private static final int HOP = 160;
    private static final float LEAST = 1e-10f;

    private final MelFrames.Plan plan;

    private LogMel(int bands) {
        plan = new MelFrames.Plan(MelFrames.floats(MelFrames.hann(SIZE, SIZE)), SIZE, HOP, null,
                MelFilters.linear(RATE, SIZE, bands, MelFilters.Scale.SLANEY, 0, RATE / 2.0, true));
    }

    /**
     * The spectrogram of Whisper.
     *
     * @param bands 80; 128 for large-v3 and turbo
     * @return the step
     * @throws IllegalArgumentException if {@code bands} is neither
     */
    public static LogMel whisper(int bands) {
        if (bands != 80 && bands != 128) {
            throw new IllegalArgumentException("found " + bands + " bands, expected 80 or 128");
        }
        return new LogMel(bands);
    }

    /**
     * A loader stage that computes the spectrogram on the device, of a field {@code f32[B, n]}: {@code
     * onDevice(LogMel.whisper(80).stage("flac"))}. Its results are those of the step, bit for bit; a clip that would be
     * a bad sample is all NaN.
     *
     * @param field the field's name
     * @return the stage; its single output, {@code f32[B, bands, n / 160]}, replaces the field
     */
    public DeviceStage stage(String field) {
        return new MelStage(this, field);
    }

    @Override
    public String name() {
        return "logMel";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 1, "samples of one channel, f32[n]");
        if (in.isVariable() || in.dim(0) <= SIZE / 2) {
            throw new IllegalArgumentException("found " + in + ", expected samples of a fixed length over " + SIZE / 2
                    + ", such as FixedLength.of(480_000) makes");
        }
        return new TensorSpec(in.name(), DType.F32, plan.bands(), in.dim(0) / HOP);
    }

    @Override
    public long valuesAfter(long values) {
        ReflectedSamples.check(values, SIZE / 2);
        return Samples.count(values / HOP * plan.bands());
    }

    @Override
    public Applier open() {
        return frames();
    }

    Frames frames() {
        return new Frames(plan);
    }

    /** For one thread. */
    static final class Frames implements Applier {

        private final MelFrames mel;
        private final int bands;
        private final ReflectedSamples samples = new ReflectedSamples();
        private final Logarithm log10 = new Logarithm(10);
        /** The greatest logarithm of each lane. */
        private final float[] most = new float[LaneSums.LANES];
        private float[] result = {};

        Frames(MelFrames.Plan plan) {
            mel = new MelFrames(plan);
            bands = plan.bands();
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException {
            if (!compute(in, inOffset, values, out, outOffset)) {
                throw new CodecException("samples whose power is not finite", "samples from -1 to 1");
            }
        }

        /** Computes a clip, and returns whether all powers are finite. If not, the result is NaN. */
        boolean compute(MemorySegment in, long inOffset, long values, MemorySegment out, long outOffset) {
            float[] mirrored = samples.read(in, inOffset, values, SIZE / 2);
            int frames = (int) (values / HOP);
            int length = Samples.count((long) frames * bands);
            if (result.length < length) {
                result = new float[length];
            }
            Arrays.fill(most, Float.NEGATIVE_INFINITY);
            boolean isFinite = true;
            for (int frame = 0; frame < frames; frame += LaneSums.LANES) {
                int lanes = Math.min(LaneSums.LANES, frames - frame);
                mel.compute(mirrored, frame * HOP, lanes);
                for (int m = 0; m < bands; m++) {
                    isFinite &= logarithms(mel.bands[m], lanes);
                    System.arraycopy(mel.bands[m], 0, result, m * frames + frame, lanes);
                }
            }
            if (isFinite) {
                float greatest = Float.NEGATIVE_INFINITY;
                for (float value : most) {
                    greatest = Math.max(greatest, value);
                }
                scale(result, length, greatest - 8);
            } else {
                Arrays.fill(result, 0, length, Float.NaN);
            }
            Samples.write(result, 0, length, out, outOffset);
            return isFinite;
        }

        /** Appends what the kernel reads: {@code MelTables} of {@code sound.cu}. */
        void putTables(IntBuffer words) {
            mel.putTables(log10, words);
        }

        /** Replaces powers by their logarithms, and returns whether all are finite. */
        private boolean logarithms(float[] row, int lanes) {
            for (int l = 0; l < lanes; l++) {
                row[l] = Math.max(row[l], LEAST);
            }
            boolean isFinite = log10.apply(row, lanes);
            for (int l = 0; l < lanes; l++) {
                most[l] = Math.max(most[l], row[l]);
            }
            return isFinite;
        }

        private static void scale(float[] values, int count, float least) {
            for (int i = 0; i < count; i++) {
                values[i] = (Math.max(values[i], least) + 4) * 0.25f;
            }
        }
    }

    /** For example {@code log-mel of Whisper, 80 bands}. */
    @Override
    public String toString() {
        return "log-mel of Whisper, " + plan.bands() + " bands";
    }
}
