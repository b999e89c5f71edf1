// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.augment.step.Distributions;
import io.penstock.augment.step.Step;
import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform.Layout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Stacks samples and mixes each image with the one before it in the batch, by MixUp or CutMix; the first image is mixed
 * with the last one. With both, each batch gets one of them, equally often.
 *
 * {@snippet :
 * DataLoader loader = DataLoader.builder(images).batchSize(64)
 *         .collator(BatchMix.soft("jpg", "cls", 1000).mixUp(0.2).cutMix(1, ImageTransform.Layout.NCHW)).open();
 * }
 *
 * <p>MixUp makes {@code w a + (1 - w) b} of an image a and its partner b, with one w for the batch, or one for each
 * image; for {@code f32} with torchvision's bits. CutMix replaces a rectangle of a by that of b; w is the share that
 * stays. Labels are {@link #soft} or {@link #pairs}. Samples without weight, which fill up a last batch, stay as they
 * are and are nobody's partner.
 *
 * <p>The draws are keyed by the seed, the epoch, and the position of the batch's first sample: workers and resuming do
 * not change a batch, but another batch size does. {@code docs/spec/augment.md} specifies them. Papers: Zhang and
 * others, "mixup: Beyond Empirical Risk Minimization" (2018); Yun and others, "CutMix" (2019). Immutable.
 */
public final class BatchMix implements Collator {

    /** The name that keys the draws. */
    public static final String NAME = "penstock.batchMix";
    /** What is appended to the name of the field of the partners' labels. */
    public static final String PARTNER_SUFFIX = "_partner";
    /** What is appended to the name of the field of the weights. */
    public static final String WEIGHT_SUFFIX = "_weight";

    private static final long STEP = KeyedRandom.step(NAME);
    /** The parameters: what is done, the weight, and the rectangle's top, left, bottom and right. */
    static final int PARAMETERS = 6;
    private static final int NOTHING = 0;
    private static final int MIX_UP = 1;
    private static final int CUT_MIX = 2;
    private static final int PAIRS = 0;
    private static final int UNUSED = 0;

    private final String image;
    private final String label;
    /** The number of classes of soft labels; {@link #PAIRS} for pairs of labels. */
    private final int classes;
    private final double probability;
    /** The parameters of the weights' distributions; {@link #UNUSED} if the operation is not used. */
    private final double mixAlpha;
    private final double cutAlpha;
    private final Layout layout;
    /** Whether MixUp draws a weight for each sample. */
    private final boolean isEach;

    private BatchMix(String image, String label, int classes, double probability, double mixAlpha, double cutAlpha,
            Layout layout, boolean isEach) {
        this.image = image;
        this.label = label;
        this.classes = classes;
        this.probability = probability;
        this.mixAlpha = mixAlpha;
        this.cutAlpha = cutAlpha;
        this.layout = layout;
        this.isEach = isEach;
    }

    /**
     * Labels become weights of all classes, {@code f32 [B, K]}, as torchvision's MixUp and CutMix make them: w for the
     * image's class, and 1 - w for its partner's.
     *
     * @param image the name of a field of images, {@code u8}, {@code f16}, {@code bf16} or {@code f32}, of three
     *     dimensions
     * @param label the name of a field of one integer of any type, the class from 0 to {@code classes - 1}; or of a
     *     truth value, class 0 or 1
     * @param classes K, at least 1
     * @return a collator that does not mix yet
     * @throws IllegalArgumentException if the number of classes is below 1
     */
    public static BatchMix soft(String image, String label, int classes) {
        if (classes < 1) {
            throw new IllegalArgumentException(classes + " classes, expected 1 or more");
        }
        return new BatchMix(image, label, classes, 1, UNUSED, UNUSED, Layout.NCHW, false);
    }

    /**
     * Labels stay; two more fields have each image's partner's, {@code LABEL_partner [B]}, and its weight w,
     * {@code LABEL_weight f32 [B]}. The loss is {@code w · loss(label) + (1 - w) · loss(partner)}. For many classes
     * this is less to copy.
     *
     * @param image the name of a field of images, as in {@link #soft}
     * @param label the name of a field of one integer
     * @return a collator that does not mix yet
     */
    public static BatchMix pairs(String image, String label) {
        return new BatchMix(image, label, PAIRS, 1, UNUSED, UNUSED, Layout.NCHW, false);
    }

    /**
     * Mixes whole images.
     *
     * @param alpha the weight is drawn from Beta(alpha, alpha); torchvision's default is 1, 0.2 is usual for ImageNet
     * @return a new collator
     * @throws IllegalArgumentException if the parameter is not positive
     */
    public BatchMix mixUp(double alpha) {
        return new BatchMix(image, label, classes, probability, checked(alpha), cutAlpha, layout, false);
    }

    /**
     * Mixes whole images, each by a weight of its own.
     *
     * @param alpha as in {@link #mixUp}
     * @return a new collator
     * @throws IllegalArgumentException if the parameter is not positive
     */
    public BatchMix mixUpEach(double alpha) {
        return new BatchMix(image, label, classes, probability, checked(alpha), cutAlpha, layout, true);
    }

    /**
     * Exchanges rectangles.
     *
     * @param alpha the share that stays is drawn from Beta(alpha, alpha), before the rectangle is cut at the edges;
     *     torchvision's default is 1
     * @param order the order of the images' dimensions
     * @return a new collator
     * @throws IllegalArgumentException if the parameter is not positive
     */
    public BatchMix cutMix(double alpha, Layout order) {
        return new BatchMix(image, label, classes, probability, mixAlpha, checked(alpha), order, isEach);
    }

    /**
     * Mixes some batches only.
     *
     * @param share the probability that a batch is mixed; 1 by default
     * @return a new collator
     * @throws IllegalArgumentException if it is not in 0 to 1
     */
    public BatchMix probability(double share) {
        Step.checkProbability(share);
        return new BatchMix(image, label, classes, share, mixAlpha, cutAlpha, layout, isEach);
    }

    private static double checked(double alpha) {
        if (!(alpha > 0 && alpha < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("alpha " + alpha + ", expected a positive number");
        }
        return alpha;
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        TensorSpec images = dataset.fields().get(dataset.indexOf(image));
        TensorSpec labels = dataset.fields().get(dataset.indexOf(label));
        if (images.rank() != 3 || !MixRows.takes(images.dtype()) || images.byteSize() > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "found " + images + ", expected images of three dimensions, u8, f16, bf16 or f32");
        }
        if (labels.rank() != 0 || !labels.dtype().isInteger() && labels.dtype() != DType.BOOL) {
            throw new IllegalArgumentException("found " + labels + ", expected one integer, the class");
        }
        List<TensorSpec> fields = new ArrayList<>(Stack.fields().layout(dataset, batchSize).fields());
        if (classes == PAIRS) {
            fields.add(new TensorSpec(label + PARTNER_SUFFIX, labels.dtype(), batchSize));
            fields.add(new TensorSpec(label + WEIGHT_SUFFIX, DType.F32, batchSize));
        } else {
            fields.set(dataset.indexOf(label), new TensorSpec(label, DType.F32, batchSize, classes));
        }
        return new SlabLayout(fields);
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        List<TensorSpec> fields = in.samples().fields();
        for (int f = 0; f < out.layout().fields().size(); f++) {
            out.setDim(f, 0, plan.count());
        }
        out.layOut();
        int images = 0;
        int labels = 0;
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(label)) {
                labels = f;
            } else if (fields.get(f).name().equals(image)) {
                images = f;
            }
            if (classes == PAIRS || f != labels || !fields.get(f).name().equals(label)) {
                in.copyAll(plan, f, out.segment(), out.offset(f));
            }
        }
        MixRows rows = MixRows.ofThread();
        TensorSpec spec = fields.get(images);
        RandomGenerator random = in.random(plan, STEP);
        draw(random, height(spec), width(spec), rows.parameters());
        drawWeights(random, rows.parameters(), rows.weights(plan.count()), plan.valid());
        mix(rows.parameters(), spec, plan.valid(), out.segment(), out.offset(images), rows);
        if (classes == PAIRS) {
            rows.pairLabels(plan, fields.get(labels).dtype().byteSize(), out, labels, fields.size());
        } else {
            rows.softenLabels(in, plan, labels, out, classes);
        }
    }

    private void mix(double[] drawn, TensorSpec spec, int count, MemorySegment slab, long first, MixRows rows) {
        if (count < 2 || drawn[0] == NOTHING) {
            return;
        }
        if (drawn[0] == MIX_UP) {
            rows.mix(slab, first, spec.dtype(), spec.byteSize(), count);
            return;
        }
        boolean hasPlanes = layout == Layout.NCHW;
        int pixelBytes = spec.dtype().byteSize() * (hasPlanes ? 1 : (int) spec.dim(2));
        int left = (int) drawn[3];
        int columns = (int) drawn[5] - left;
        rows.cut(slab, first, spec.byteSize(), count, hasPlanes ? (int) spec.dim(0) : 1, height(spec),
                width(spec) * pixelBytes, (int) drawn[2], (int) drawn[4], left * pixelBytes, columns * pixelBytes);
    }

    /**
     * Draws a weight for each of the first {@code mixed} samples, if there is more than one. The others have weight 1.
     */
    void drawWeights(RandomGenerator random, double[] drawn, double[] weights, int mixed) {
        Arrays.fill(weights, 1);
        for (int i = 0; i < mixed && mixed > 1; i++) {
            weights[i] = i > 0 && isEach && drawn[0] == MIX_UP ? Distributions.beta(random, mixAlpha) : drawn[1];
        }
    }

    /**
     * Draws what happens to a batch: no mixing (0), MixUp or CutMix; the weight; and the rectangle, whose lower right
     * corner is exclusive.
     */
    void draw(RandomGenerator random, int height, int width, double[] values) {
        Arrays.fill(values, 0, PARAMETERS, 0);
        boolean isMixed = random.nextDouble() < probability;
        boolean isCut = random.nextBoolean() ? cutAlpha != UNUSED : mixAlpha == UNUSED;
        values[1] = 1;
        if (!isMixed || mixAlpha == UNUSED && cutAlpha == UNUSED) {
            return;
        }
        if (!isCut) {
            values[0] = MIX_UP;
            values[1] = Distributions.beta(random, mixAlpha);
            return;
        }
        int row = random.nextInt(height);
        int column = random.nextInt(width);
        double half = 0.5 * Math.sqrt(1 - Distributions.beta(random, cutAlpha));
        values[0] = CUT_MIX;
        values[2] = Math.max(row - (int) (half * height), 0);
        values[3] = Math.max(column - (int) (half * width), 0);
        values[4] = Math.min(row + (int) (half * height), height);
        values[5] = Math.min(column + (int) (half * width), width);
        values[1] = 1 - (values[4] - values[2]) * (values[5] - values[3]) / ((double) width * height);
    }

    private int height(TensorSpec spec) {
        return (int) spec.dim(layout == Layout.NCHW ? 1 : 0);
    }

    private int width(TensorSpec spec) {
        return (int) spec.dim(layout == Layout.NCHW ? 2 : 1);
    }

    @Override
    public String toString() {
        return "stack and mix '" + image + "'" + (mixAlpha == UNUSED ? "" : " by mixUp " + mixAlpha)
                + (isEach ? " each" : "")
                + (cutAlpha == UNUSED ? "" : " by cutMix " + cutAlpha) + ", p " + probability + ", '" + label + "' as "
                + (classes == PAIRS ? "pairs" : classes + " weights");
    }
}
