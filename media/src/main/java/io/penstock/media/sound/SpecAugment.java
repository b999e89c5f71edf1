// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.dataset.Dataset;
import io.penstock.device.DeviceStage;
import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Masks bands and spans of time of a spectrogram, as SpecAugment (Park and others, 2019) does; without its time warp.
 * The masks are torchaudio's {@code FrequencyMasking} and {@code TimeMasking}.
 *
 * {@snippet :
 * SpecAugment.of(80).bands(2, 27).frames(2, 100);                     // f32[80, frames]: two masks of each kind
 * SpecAugment.of(80).framesFirst().frames(10, 100).atMost(0.05).mean();   // f32[frames, 80], as KaldiFbank makes it
 * }
 *
 * <p>A mask takes two doubles in [0, 1): {@code v = u₁ · widest}, the mask is {@code floor(v)} wide and begins at
 * {@code floor(u₂ · (size - v))}. Masks of bands are drawn first.
 *
 * <p>Workers mask as a step, or the device as a {@link #stage}, with the same bits.
 */
public final class SpecAugment implements SoundStep {

    private static final int BLOCK = 4096;

    final int count;
    boolean areBandsFirst = true;
    int bandMasks;
    private int bandWidth;
    int timeMasks;
    private int timeWidth;
    private double share = 1;
    boolean isMean;

    private SpecAugment(int count) {
        this.count = Samples.positive(count, "bands");
    }

    private SpecAugment(SpecAugment of) {
        count = of.count;
        areBandsFirst = of.areBandsFirst;
        bandMasks = of.bandMasks;
        bandWidth = of.bandWidth;
        timeMasks = of.timeMasks;
        timeWidth = of.timeWidth;
        share = of.share;
        isMean = of.isMean;
    }

    private static int checked(int number, String what) {
        if (number < 0) {
            throw new IllegalArgumentException("found " + number + " for " + what + ", expected 0 or more");
        }
        return number;
    }

    /**
     * A step without masks yet.
     *
     * @param count the number of bands of the spectrogram, which is first
     * @return the step
     * @throws IllegalArgumentException if it is below 1
     */
    public static SpecAugment of(int count) {
        return new SpecAugment(count);
    }

    /** {@return the step for spectrograms {@code f32[frames, bands]}} */
    public SpecAugment framesFirst() {
        SpecAugment changed = new SpecAugment(this);
        changed.areBandsFirst = false;
        return changed;
    }

    /**
     * {@return the step with masks of bands}
     *
     * @param masks how many
     * @param widest their width is below it, and at most the number of bands
     * @throws IllegalArgumentException if a number is negative
     */
    public SpecAugment bands(int masks, int widest) {
        SpecAugment changed = new SpecAugment(this);
        changed.bandMasks = checked(masks, "masks");
        changed.bandWidth = checked(widest, "the widest mask");
        return changed;
    }

    /**
     * {@return the step with masks of frames}
     *
     * @param masks how many
     * @param widest their width is below it
     * @throws IllegalArgumentException if a number is negative
     */
    public SpecAugment frames(int masks, int widest) {
        SpecAugment changed = new SpecAugment(this);
        changed.timeMasks = checked(masks, "masks");
        changed.timeWidth = checked(widest, "the widest mask");
        return changed;
    }

    /**
     * {@return the step whose masks of frames are no wider than a share of the frames: torchaudio's {@code p}}
     *
     * @param ofFrames the share
     * @throws IllegalArgumentException if it is not in 0 … 1
     */
    public SpecAugment atMost(double ofFrames) {
        if (!(ofFrames >= 0 && ofFrames <= 1)) {
            throw new IllegalArgumentException("found a share of " + ofFrames + ", expected 0 to 1");
        }
        SpecAugment changed = new SpecAugment(this);
        changed.share = ofFrames;
        return changed;
    }

    /** {@return the step that fills masks with the spectrogram's mean} */
    public SpecAugment mean() {
        SpecAugment changed = new SpecAugment(this);
        changed.isMean = true;
        return changed;
    }

    /**
     * Adds what the masks draw, for a {@link #stage}: as last field {@code f64} numbers in [0, 1), two of each mask.
     * They are those that the step draws in {@link SoundSteps#map}, unless the steps are {@linkplain
     * SoundSteps#named renamed}.
     *
     * @param dataset the dataset
     * @param field the name of the field whose spectrograms are to be masked
     * @return the dataset with another field, of the field's name and {@code _masks}
     * @throws IllegalArgumentException if there is no such field, or one of that name
     */
    public Dataset withMasks(Dataset dataset, String field) {
        dataset.indexOf(field);
        TensorSpec draws = draws(field);
        return dataset.with(draws, "draws of " + this, SoundSteps.NAME + "." + name(), (_, random, out) -> {
            MemorySegment to = out.tensor(0).segment();
            for (long i = 0; i < draws.dim(0); i++) {
                to.set(LittleEndian.F64, i * Double.BYTES, random.nextDouble());
            }
        });
    }

    /**
     * A loader stage that masks on the device, by the draws of {@link #withMasks}, for example behind {@link
     * LogMel#stage}. Its results are those of the step, bit for bit.
     *
     * @param field the field's name: {@code f32[B, bands, frames]}, or the other order
     * @return the stage; its single output replaces the field
     * @throws IllegalArgumentException if there are no masks, or over 64 of a kind
     */
    public DeviceStage stage(String field) {
        if (!draws() || Math.max(bandMasks, timeMasks) > MaskStage.MOST_MASKS) {
            throw new IllegalArgumentException("found " + this + ", expected 1 to " + MaskStage.MOST_MASKS
                    + " masks of a kind");
        }
        return new MaskStage(this, field);
    }

    /** The field of a sample's draws. */
    TensorSpec draws(String field) {
        return new TensorSpec(field + "_masks", DType.F64, Math.max(1, drawnNumbers()));
    }

    long drawnNumbers() {
        return 2L * (bandMasks + timeMasks);
    }

    long widestOfBands() {
        return Math.min(bandWidth, count);
    }

    long widestOf(long frames) {
        return Math.min(timeWidth, (long) (share * frames));
    }

    @Override
    public String name() {
        return "specAugment";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        int at = areBandsFirst ? 0 : 1;
        Samples.check(in, 2, "a spectrogram of " + count + " bands");
        if (in.dim(at) != count) {
            throw new IllegalArgumentException("found " + in + ", expected a spectrogram of " + count + " bands as "
                    + (at == 0 ? "first" : "second") + " dimension");
        }
        return in;
    }

    @Override
    public long valuesAfter(long values) {
        if (values % count != 0) {
            throw new CodecException("a spectrogram of " + values + " values", "a multiple of " + count);
        }
        return values;
    }

    @Override
    public boolean draws() {
        return bandMasks > 0 || timeMasks > 0;
    }

    @Override
    public Applier open() {
        return new Masks(this);
    }

    private static final class Masks implements Applier {

        private final SpecAugment of;
        private final float[] block = new float[BLOCK];

        Masks(SpecAugment of) {
            this.of = of;
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException {
            long frames = of.valuesAfter(values) / of.count;
            float value = copy(in, inOffset, values, out, outOffset);
            Arrays.fill(block, value);
            for (int mask = 0; mask < of.bandMasks; mask++) {
                mask(random, of.count, of.widestOfBands(), of.areBandsFirst, frames, out, outOffset);
            }
            for (int mask = 0; mask < of.timeMasks; mask++) {
                mask(random, frames, of.widestOf(frames), !of.areBandsFirst, frames, out, outOffset);
            }
        }

        /** Copies the values, and returns what masked ones become. */
        private float copy(MemorySegment in, long inOffset, long values, MemorySegment out, long outOffset) {
            double sum = 0;
            if (!of.isMean) {
                MemorySegment.copy(in, inOffset, out, outOffset, values * Float.BYTES);
                return 0;
            }
            for (long done = 0; done < values; done += BLOCK) {
                int count = (int) Math.min(BLOCK, values - done);
                Samples.read(in, inOffset + done * Float.BYTES, block, 0, count);
                for (int i = 0; i < count; i++) {
                    sum += block[i];
                }
                Samples.write(block, 0, count, out, outOffset + done * Float.BYTES);
            }
            return values == 0 ? 0 : (float) (sum / values);
        }

        private void mask(RandomGenerator random, long size, long widest, boolean areRows, long frames,
                MemorySegment out, long outOffset) {
            double v = random.nextDouble() * widest;
            long start = (long) (random.nextDouble() * (size - v));
            long width = (long) v;
            long rows = of.areBandsFirst ? of.count : frames;
            long columns = of.areBandsFirst ? frames : of.count;
            if (areRows) {
                fill(width * columns, out, outOffset + start * columns * Float.BYTES);
                return;
            }
            for (long row = 0; row < rows; row++) {
                fill(width, out, outOffset + (row * columns + start) * Float.BYTES);
            }
        }

        private void fill(long values, MemorySegment out, long offset) {
            for (long done = 0; done < values; done += BLOCK) {
                Samples.write(block, 0, (int) Math.min(BLOCK, values - done), out, offset + done * Float.BYTES);
            }
        }
    }

    /** For example {@code 2 masks below 27 of 80 bands, 2 below 100 and a share of 1.0 of the frames}. */
    @Override
    public String toString() {
        return bandMasks + " masks below " + bandWidth + " of " + count + " bands, " + timeMasks + " below " + timeWidth
                + " and a share of " + share + " of the frames" + (isMean ? ", mean" : "")
                + (areBandsFirst ? "" : ", frames first");
    }
}
