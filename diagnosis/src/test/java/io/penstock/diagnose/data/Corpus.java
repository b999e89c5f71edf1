// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import com.sun.management.ThreadMXBean;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Batches of made-up documents, images and labels whose distributions are known. Documents repeat their own words, and
 * a batch's images share their light, as real ones do: samples that are worth fewer than they are.
 */
final class Corpus {

    static final int BATCH = 16;
    static final int TOKENS = 128;
    static final int VOCABULARY = 5_000;
    static final int CLASSES = 10;
    static final SlabLayout LAYOUT = SlabLayout.of(
            new TensorSpec("tokens", DType.U16, BATCH, TOKENS),
            new TensorSpec("tokens_lengths", DType.I32, BATCH),
            new TensorSpec("image", DType.U8, BATCH, 8, 8, 3),
            new TensorSpec("heat", DType.F32, BATCH, 4),
            new TensorSpec("label", DType.I64, BATCH));

    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final double[] ZIPF = zipf();

    private final SplittableRandom random;
    /** The share of tokens that are not of this corpus, but 6000 to 6007. */
    double foreign;
    /** Added to the third channel of images. */
    double light;
    /** A word is said again with this chance. */
    double repeats = 0.5;
    /** The share of labels of class 0 that are of class 1 instead. */
    double mislabelled;
    /** The share of images that are black. */
    double black;
    /** Documents are so much longer. */
    double longer = 1;
    /** The share of values of "heat" that are no numbers. */
    double broken;

    Corpus(long seed) {
        random = new SplittableRandom(seed);
    }

    private static double[] zipf() {
        double[] cumulative = new double[VOCABULARY];
        double sum = 0;
        for (int id = 0; id < VOCABULARY; id++) {
            sum += 1.0 / (id + 3);
            cumulative[id] = sum;
        }
        for (int id = 0; id < VOCABULARY; id++) {
            cumulative[id] /= sum;
        }
        return cumulative;
    }

    /** An oracle: how often an id is met. */
    static double share(int id) {
        return ZIPF[id] - (id == 0 ? 0 : ZIPF[id - 1]);
    }

    private int word() {
        if (random.nextDouble() < foreign) {
            return 6000 + random.nextInt(8);
        }
        int id = Arrays.binarySearch(ZIPF, random.nextDouble());
        return id < 0 ? -id - 1 : id;
    }

    /** Shows so many batches of an epoch. */
    void show(DataStatistics statistics, long epoch, int batches) {
        BatchSampler sampler = BatchSampler.of(Sampler.sequential((long) batches * BATCH), BATCH,
                new Shard(0, 1, TailPolicy.PAD)).startingAt(epoch, 0);
        BatchPlan plan = new BatchPlan(BATCH);
        Slab slab = new Slab(LAYOUT, MemorySegment.ofArray(new long[(int) LAYOUT.capacityBytes() / 8]));
        for (int batch = 0; batch < batches; batch++) {
            sampler.plan(batch, plan);
            fill(slab);
            statistics.apply(plan, slab);
        }
    }

    /** Heap bytes that it takes to look at one batch so many times. */
    long allocatedByLooking(DataStatistics statistics, int times, ThreadMXBean threads) {
        BatchPlan plan = new BatchPlan(BATCH);
        Slab slab = new Slab(LAYOUT, MemorySegment.ofArray(new long[(int) LAYOUT.capacityBytes() / 8]));
        BatchSampler.of(Sampler.sequential(BATCH), BATCH, new Shard(0, 1, TailPolicy.PAD)).plan(0, plan);
        fill(slab);
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < times; i++) {
            statistics.apply(plan, slab);
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    private void fill(Slab slab) {
        MemorySegment memory = slab.segment();
        double ofBatch = 4 * random.nextGaussian();
        for (int row = 0; row < BATCH; row++) {
            long tokens = slab.offset(0) + 2L * row * TOKENS;
            int length = Math.clamp((int) (longer * (20 + random.nextInt(80))), 1, TOKENS);
            for (int t = 0; t < TOKENS; t++) {
                int id = t >= length ? 0 : t > 0 && random.nextDouble() < repeats
                        ? memory.get(I16, tokens + 2L * random.nextInt(t)) : word();
                memory.set(I16, tokens + 2L * t, (short) id);
            }
            memory.set(I32, slab.offset(1) + 4L * row, length);
            boolean isBlack = random.nextDouble() < black;
            double ofImage = 110 + ofBatch + 15 * random.nextGaussian();
            for (int i = 0; i < 192; i++) {
                double value = ofImage + 20 * random.nextGaussian() + (i % 3 == 2 ? light : 0);
                memory.set(ValueLayout.JAVA_BYTE, slab.offset(2) + 192L * row + i,
                        isBlack ? 0 : (byte) Math.clamp(Math.round(value), 0, 255));
            }
            for (int i = 0; i < 4; i++) {
                float value = random.nextDouble() < broken ? Float.NaN : (float) (1e6 + random.nextGaussian());
                memory.set(I32, slab.offset(3) + 4L * (4 * row + i), Float.floatToRawIntBits(value));
            }
            int label = random.nextInt(CLASSES);
            memory.set(I64, slab.offset(4) + 8L * row,
                    label == 0 && random.nextDouble() < mislabelled ? 1 : label);
        }
    }
}
