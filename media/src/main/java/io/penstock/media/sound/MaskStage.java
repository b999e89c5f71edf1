// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Masks spectrograms of a field on the device, by draws in another field; the twin is the step itself. */
record MaskStage(SpecAugment augment, String field) implements DeviceStage {

    static final StructLayout LAYOUT = Word.struct("Masks", "source", "batch", "rows", "columns", "target", "draws",
            "row_masks", "row_widest", "column_masks", "column_widest", "columns_first", "means");
    /** The means of the clips, if masks are filled with them. The twin of the other kernel computes them too. */
    static final Kernel MEANS = new Kernel("penstock_mask_means", LAYOUT, _ -> { });
    /** The most masks of bands, and of frames. */
    static final int MOST_MASKS = 64;

    private static final Word SOURCE = Word.of(LAYOUT, "source");
    private static final Word BATCH = Word.of(LAYOUT, "batch");
    private static final Word ROWS = Word.of(LAYOUT, "rows");
    private static final Word COLUMNS = Word.of(LAYOUT, "columns");
    private static final Word TARGET = Word.of(LAYOUT, "target");
    private static final Word DRAWS = Word.of(LAYOUT, "draws");
    private static final Word ROW_MASKS = Word.of(LAYOUT, "row_masks");
    private static final Word ROW_WIDEST = Word.of(LAYOUT, "row_widest");
    private static final Word COLUMN_MASKS = Word.of(LAYOUT, "column_masks");
    private static final Word COLUMN_WIDEST = Word.of(LAYOUT, "column_widest");
    private static final Word COLUMNS_FIRST = Word.of(LAYOUT, "columns_first");
    private static final Word MEANS_ADDRESS = Word.of(LAYOUT, "means");

    static Kernel masks(Kernel.Twin twin) {
        return new Kernel("penstock_masks", LAYOUT, twin);
    }

    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        TensorSpec found = fields.fields().get(fields.indexOf(field));
        if (found.dtype() != DType.F32 || found.rank() != 3 || found.dim(augment.areBandsFirst ? 1 : 2)
                != augment.count) {
            throw new IllegalArgumentException("found " + found + ", expected spectrograms, "
                    + (augment.areBandsFirst ? "f32[B, " + augment.count + ", frames]"
                    : "f32[B, frames, " + augment.count + "]"));
        }
        TensorSpec draws = augment.draws(field);
        TensorSpec expected = new TensorSpec(draws.name(), DType.F64, found.dim(0), draws.dim(0));
        if (!fields.fields().contains(expected)) {
            throw new IllegalArgumentException("found " + fields.fields() + ", expected also " + expected
                    + ", which SpecAugment.withMasks adds");
        }
        return new Open(device, fields.indexOf(field), fields.indexOf(draws.name()), augment, found);
    }

    /** Describes the stage: the masks and the field. */
    @Override
    public String toString() {
        return augment + " of " + field;
    }

    private static final class Open implements OpenStage {

        private final int index;
        private final int drawsIndex;
        private final SpecAugment augment;
        private final SoundStep.Applier step;
        private final SlabLayout outputs;
        private final Kernel masks = masks(this::run);
        private final MemorySegment arguments = masks.newArguments();
        private final Drawn drawn = new Drawn();
        private final @Nullable DeviceBuffer means;

        Open(Device device, int index, int drawsIndex, SpecAugment augment, TensorSpec field) {
            this.index = index;
            this.drawsIndex = drawsIndex;
            this.augment = augment;
            step = augment.open();
            outputs = SlabLayout.of(field);
            means = augment.isMean ? device.allocate(field.dim(0) * Float.BYTES) : null;
            MEANS_ADDRESS.set(arguments, means == null ? 0 : means.address());
            COLUMNS_FIRST.set(arguments, augment.areBandsFirst ? 0 : 1);
            ROW_MASKS.set(arguments, augment.areBandsFirst ? augment.bandMasks : augment.timeMasks);
            COLUMN_MASKS.set(arguments, augment.areBandsFirst ? augment.timeMasks : augment.bandMasks);
        }

        /** The twin of both kernels. */
        private void run(MemorySegment words) {
            long values = ROWS.get(words) * COLUMNS.get(words);
            for (long i = 0; i < BATCH.get(words); i++) {
                drawn.next = DRAWS.get(words) + i * augment.drawnNumbers() * Double.BYTES;
                try {
                    step.apply(RawMemory.all(), SOURCE.get(words) + i * values * Float.BYTES, values, drawn,
                            RawMemory.all(), TARGET.get(words) + i * values * Float.BYTES);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        @Override
        public SlabLayout outputs() {
            return outputs;
        }

        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            long batch = in.dim(index, 0);
            long rows = in.dim(index, 1);
            long columns = in.dim(index, 2);
            out.setDim(0, 0, batch);
            out.setDim(0, 1, rows);
            out.setDim(0, 2, columns);
            SOURCE.set(arguments, in.address(index));
            BATCH.set(arguments, batch);
            ROWS.set(arguments, rows);
            COLUMNS.set(arguments, columns);
            TARGET.set(arguments, out.address(0));
            DRAWS.set(arguments, in.address(drawsIndex));
            ROW_WIDEST.set(arguments, augment.areBandsFirst ? augment.widestOfBands() : augment.widestOf(rows));
            COLUMN_WIDEST.set(arguments, augment.areBandsFirst ? augment.widestOf(columns) : augment.widestOfBands());
            if (means != null) {
                stream.launch(MEANS, Kernel.blocks(batch), arguments);
            }
            stream.launch(masks, Kernel.blocks(batch * rows), arguments);
        }

        @Override
        public void close() {
            if (means != null) {
                means.close();
            }
        }
    }

    /** Numbers that were drawn before, in memory. */
    private static final class Drawn implements RandomGenerator {

        private long next;

        @Override
        public double nextDouble() {
            double value = RawMemory.all().get(LittleEndian.F64, next);
            next += Double.BYTES;
            return Math.clamp(value, 0.0, 1.0);
        }

        @Override
        public long nextLong() {
            throw new UnsupportedOperationException("masks draw doubles");
        }
    }
}
