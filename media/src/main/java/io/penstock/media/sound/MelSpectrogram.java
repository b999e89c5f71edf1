// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;

/**
 * Powers of mel bands, as torchaudio's {@code MelSpectrogram} defines them: {@code f32[n]} becomes {@code f32[bands, 1
 * + n / hop]}. The samples are mirrored at the ends by half a window; windows are periodic Hann windows of the
 * transform's size. Values are within 3e-5 of the definition, relative to the value plus 1e-3.
 *
 * {@snippet :
 * MelSpectrogram.of(16_000);                                          // torchaudio's defaults: f32[128, 1 + n / 200]
 * MelSpectrogram.of(22_050).size(1024).hop(256).bands(80).range(0, 8000).slaney();
 * }
 */
public final class MelSpectrogram implements SoundStep {

    private final int rate;
    private int size = 400;
    private int hop = 200;
    private int bands = 128;
    private double low;
    private double high;
    private MelFilters.Scale scale = MelFilters.Scale.HTK;

    private MelSpectrogram(int rate) {
        this.rate = rate;
        high = rate / 2.0;
    }

    private MelSpectrogram(MelSpectrogram of) {
        rate = of.rate;
        size = of.size;
        hop = of.hop;
        bands = of.bands;
        low = of.low;
        high = of.high;
        scale = of.scale;
    }

    /**
     * The spectrogram with torchaudio's defaults: a transform of 400, hop 200, 128 bands by HTK's scale from 0 to half
     * the rate, not normalized. At 16 kHz four bands are so narrow that they have no frequency: they are 0.
     *
     * @param rate samples a second
     * @return the step
     * @throws IllegalArgumentException if the rate is below 1
     */
    public static MelSpectrogram of(int rate) {
        return new MelSpectrogram(Samples.positive(rate, "the rate"));
    }

    /**
     * {@return the spectrogram with another size of the transform and the window}
     *
     * @param samples an even number up to 65,536 without prime factors above 5; the hop becomes its half
     * @throws IllegalArgumentException if it is another number
     */
    public MelSpectrogram size(int samples) {
        MelSpectrogram changed = new MelSpectrogram(this);
        changed.size = Samples.positive(samples, "the size");
        changed.hop = Math.max(1, samples / 2);
        new LaneFft(samples);
        return changed;
    }

    /**
     * {@return the spectrogram with another distance between frames}
     *
     * @param samples from a frame to the next
     * @throws IllegalArgumentException if it is below 1
     */
    public MelSpectrogram hop(int samples) {
        MelSpectrogram changed = new MelSpectrogram(this);
        changed.hop = Samples.positive(samples, "the hop");
        return changed;
    }

    /**
     * {@return the spectrogram with another number of bands}
     *
     * @param count how many
     * @throws IllegalArgumentException if it is below 1
     */
    public MelSpectrogram bands(int count) {
        MelSpectrogram changed = new MelSpectrogram(this);
        changed.bands = Samples.positive(count, "bands");
        return changed;
    }

    /**
     * {@return the spectrogram with other frequencies}
     *
     * @param lowest where the first band begins, in Hz
     * @param highest where the last ends, at most half the rate
     * @throws IllegalArgumentException if they are no such range
     */
    public MelSpectrogram range(double lowest, double highest) {
        if (!(lowest >= 0 && lowest < highest && highest <= rate / 2.0)) {
            throw new IllegalArgumentException("found " + lowest + " to " + highest + " Hz, expected a range within 0 "
                    + "to " + rate / 2.0);
        }
        MelSpectrogram changed = new MelSpectrogram(this);
        changed.low = lowest;
        changed.high = highest;
        return changed;
    }

    /** {@return the spectrogram by Slaney's scale, with bands of one area, as librosa has them by default} */
    public MelSpectrogram slaney() {
        MelSpectrogram changed = new MelSpectrogram(this);
        changed.scale = MelFilters.Scale.SLANEY;
        return changed;
    }

    @Override
    public String name() {
        return "mel";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 1, "samples of one channel, f32[n]");
        if (in.isVariable() || in.dim(0) <= size / 2) {
            throw new IllegalArgumentException("found " + in + ", expected samples of a fixed length over " + size / 2
                    + ", such as FixedLength makes");
        }
        return new TensorSpec(in.name(), DType.F32, bands, 1 + in.dim(0) / hop);
    }

    @Override
    public long valuesAfter(long values) {
        ReflectedSamples.check(values, size / 2);
        return Samples.count((1 + values / hop) * bands);
    }

    @Override
    public Applier open() {
        var mel = new MelFrames(new MelFrames.Plan(MelFrames.floats(MelFrames.hann(size, size)), size, hop, null,
                MelFilters.linear(rate, size, bands, scale, low, high, scale == MelFilters.Scale.SLANEY)));
        var samples = new ReflectedSamples();
        return (in, inOffset, values, random, out, outOffset) -> {
            long frames = valuesAfter(values) / bands;
            float[] mirrored = samples.read(in, inOffset, values, size / 2);
            for (int frame = 0; frame < frames; frame += LaneSums.LANES) {
                int lanes = (int) Math.min(LaneSums.LANES, frames - frame);
                mel.compute(mirrored, frame * hop, lanes);
                for (int m = 0; m < bands; m++) {
                    Samples.write(mel.bands[m], 0, lanes, out, outOffset + (m * frames + frame) * Float.BYTES);
                }
            }
        };
    }

    /** For example {@code mel of 16000 samples a second, 128 bands, 400 every 200}. */
    @Override
    public String toString() {
        return "mel of " + rate + " samples a second, " + bands + " bands" + (scale == MelFilters.Scale.SLANEY
                ? " by Slaney" : "") + " from " + low + " to " + high + " Hz, " + size + " every " + hop;
    }
}
