// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.device.Kernel;
import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.Cells;
import io.penstock.transform.Experiment;
import io.penstock.transform.StageWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Log-mel spectrograms as stages of a loader, and what the workers' step makes of the same clips; masks, and what a
 * loop over all values makes of the same draws.
 */
public final class MelExperiments {

    /** The kernels of the stages. */
    public static final List<Kernel> KERNELS = List.of(MelStage.logarithms(_ -> { }), MelStage.SCALE,
            MaskStage.MEANS, MaskStage.masks(_ -> { }));

    private final SplittableRandom random;

    public MelExperiments(long seed) {
        random = new SplittableRandom(seed);
    }

    public List<Experiment> all() {
        List<Experiment> all = new ArrayList<>();
        for (int samples : new int[] {201, 399, 400, 1279, 1280, 1281, random.nextInt(201, 30_000)}) {
            all.add(experiment(random.nextBoolean() ? 80 : 128, samples, random.nextInt(1, 5)));
        }
        all.add(ofTheVectors());
        for (int i = 0; i < 8; i++) {
            all.add(masks(i % 2 == 0, i / 2 % 2 == 0));
        }
        return all;
    }

    /** A batch of fewer spectrograms than there can be, of one size. */
    private Experiment masks(boolean areBandsFirst, boolean isMean) {
        int most = random.nextInt(1, 5);
        int batch = random.nextInt(1, most + 1);
        int bands = random.nextInt(1, 130);
        int frames = random.nextInt(1, 700);
        int[] masks = {random.nextInt(5), random.nextInt(1, 5)};
        int[] widths = {random.nextInt(2 * bands), random.nextInt(2 * frames)};
        double share = random.nextDouble();
        SpecAugment augment = SpecAugment.of(bands).bands(masks[0], widths[0]).frames(masks[1], widths[1])
                .atMost(share);
        augment = areBandsFirst ? augment : augment.framesFirst();
        augment = isMean ? augment.mean() : augment;
        int rows = areBandsFirst ? bands : frames;
        int columns = areBandsFirst ? frames : bands;
        int numbers = 2 * (masks[0] + masks[1]);
        Cells in = Cells.inputs(DType.F32, (long) most * rows * columns);
        Cells draws = Cells.inputs(DType.F64, (long) most * numbers);
        Cells expected = Cells.outputs(DType.F32, (long) most * rows * columns);
        for (int b = 0; b < batch; b++) {
            float[] values = new float[rows * columns];
            double sum = 0;
            for (int i = 0; i < values.length; i++) {
                values[i] = random.nextFloat() * 4 - 2;
                sum += values[i];
                in.set((long) b * values.length + i, Float.floatToRawIntBits(values[i]));
            }
            double[] drawn = new double[numbers];
            for (int i = 0; i < numbers; i++) {
                drawn[i] = random.nextDouble();
                draws.set((long) b * numbers + i, Double.doubleToRawLongBits(drawn[i]));
            }
            for (int i = 0; i < values.length; i++) {
                int band = areBandsFirst ? i / columns : i % columns;
                int frame = areBandsFirst ? i % columns : i / columns;
                boolean isMasked = false;
                for (int m = 0; m < masks[0] + masks[1]; m++) {
                    boolean isBand = m < masks[0];
                    double v = drawn[2 * m] * (isBand ? Math.min(widths[0], bands)
                            : Math.min(widths[1], (int) (share * frames)));
                    int begin = (int) (drawn[2 * m + 1] * ((isBand ? bands : frames) - v));
                    int at = isBand ? band : frame;
                    isMasked |= at >= begin && at < begin + (int) v;
                }
                expected.set((long) b * values.length + i, Float.floatToRawIntBits(!isMasked ? values[i]
                        : isMean ? (float) (sum / values.length) : 0));
            }
        }
        var work = new StageWork(augment.stage("mel"), batch, new TensorSpec("mel", DType.F32, most, rows, columns),
                new TensorSpec("mel_masks", DType.F64, most, numbers)).shape("mel", batch, rows, columns)
                .shape("mel_masks", batch, numbers).expect("mel", batch, rows, columns);
        return new Experiment(augment + " of " + batch + " spectrograms of " + frames + " frames", work)
                .input("mel", in).input("mel_masks", draws).output(StageWork.OUT + "mel", expected);
    }

    /** A batch of fewer clips than there can be; some are silent in part, of odd size, or not finite. */
    private Experiment experiment(int bands, int samples, int most) {
        int batch = random.nextInt(1, most + 1);
        Cells in = Cells.inputs(DType.F32, (long) most * samples);
        float[][] clips = new float[batch][samples];
        for (int b = 0; b < batch; b++) {
            float loud = (float) Math.pow(10, random.nextInt(-12, 5));
            int begin = random.nextInt(samples);
            for (int i = random.nextBoolean() ? 0 : begin; i < samples; i++) {
                clips[b][i] = loud * (random.nextFloat() * 2 - 1);
            }
            if (random.nextInt(6) == 0) {
                clips[b][begin] = new float[] {Float.NaN, Float.NEGATIVE_INFINITY, 1e30f}[random.nextInt(3)];
            }
            for (int i = 0; i < samples; i++) {
                in.set((long) b * samples + i, Float.floatToRawIntBits(clips[b][i]));
            }
        }
        return experiment(LogMel.whisper(bands), most, in, clips);
    }

    /** The clip of the reference values. */
    private static Experiment ofTheVectors() {
        float[] clip = Vectors.signal();
        Cells in = Cells.inputs(DType.F32, clip.length);
        for (int i = 0; i < clip.length; i++) {
            in.set(i, Float.floatToRawIntBits(clip[i]));
        }
        return experiment(LogMel.whisper(80), 1, in, clip);
    }

    private static Experiment experiment(LogMel mel, int most, Cells in, float[]... clips) {
        int samples = clips[0].length;
        int frames = samples / 160;
        long bands = mel.after(new TensorSpec("sound", DType.F32, samples)).dim(0);
        Cells expected = Cells.outputs(DType.F32, most * bands * frames);
        for (int b = 0; b < clips.length; b++) {
            float[] result = new float[(int) bands * frames];
            try {
                result = Vectors.apply(mel, clips[b]);
            } catch (CodecException e) {
                Arrays.fill(result, Float.NaN);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            for (int i = 0; i < result.length; i++) {
                expected.set(b * bands * frames + i, Float.floatToRawIntBits(result[i]));
            }
        }
        var work = new StageWork(mel.stage("sound"), clips.length, new TensorSpec("other", DType.U8, most),
                new TensorSpec("sound", DType.F32, most, samples))
                .shape("other", clips.length).shape("sound", clips.length, samples)
                .expect("sound", clips.length, bands, frames);
        return new Experiment(mel + " of " + clips.length + " clips of " + samples, work)
                .input("other", Cells.inputs(DType.U8, most)).input("sound", in)
                .output(StageWork.OUT + "sound", expected);
    }
}
