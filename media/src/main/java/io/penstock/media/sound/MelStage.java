// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.DeviceThread;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.IntBuffer;

/** Computes log-mel spectrograms of a field on the device; the twin is the step itself. */
record MelStage(LogMel mel, String field) implements DeviceStage {

    static final StructLayout LAYOUT = Word.struct("LogMel",
            "source", "batch", "samples", "target", "bands", "frames", "most", "tables");
    /** The second pass. The twin of the first does its work too. */
    static final Kernel SCALE = new Kernel("penstock_log_mel_scale", LAYOUT, _ -> { });

    private static final Word SOURCE = Word.of(LAYOUT, "source");
    private static final Word BATCH = Word.of(LAYOUT, "batch");
    private static final Word SAMPLES = Word.of(LAYOUT, "samples");
    private static final Word TARGET = Word.of(LAYOUT, "target");
    private static final Word BANDS = Word.of(LAYOUT, "bands");
    private static final Word FRAMES = Word.of(LAYOUT, "frames");
    private static final Word MOST = Word.of(LAYOUT, "most");
    private static final Word TABLES = Word.of(LAYOUT, "tables");

    /** More words than the tables have. */
    private static final int TABLE_WORDS = 4096;
    /** The frames that a block takes. */
    private static final int BLOCK_FRAMES = 8;

    static Kernel logarithms(Kernel.Twin twin) {
        return new Kernel("penstock_log_mel", LAYOUT, twin);
    }

    @Override
    public OpenStage open(Device device, SlabLayout fields) {
        int index = fields.indexOf(field);
        TensorSpec found = fields.fields().get(index);
        if (found.dtype() != DType.F32 || found.rank() != 2) {
            throw new IllegalArgumentException("found " + found + ", expected samples of one channel, f32[B, n]");
        }
        TensorSpec one = mel.after(new TensorSpec(field, DType.F32, found.dim(1)));
        return new Open(device, index, found.dim(1), mel.frames(),
                new TensorSpec(field, DType.F32, found.dim(0), one.dim(0), one.dim(1)));
    }

    /** Describes the stage: the spectrogram and the field. */
    @Override
    public String toString() {
        return mel + " of " + field;
    }

    private static final class Open implements OpenStage {

        private final int index;
        private final long samples;
        private final LogMel.Frames step;
        private final SlabLayout outputs;
        private final Kernel logarithms = logarithms(this::run);
        private final MemorySegment arguments = logarithms.newArguments();
        private final DeviceBuffer scratch;

        Open(Device device, int index, long samples, LogMel.Frames step, TensorSpec made) {
            this.index = index;
            this.samples = samples;
            this.step = step;
            outputs = SlabLayout.of(made);
            long tableBytes = SlabLayout.align(TABLE_WORDS * Integer.BYTES);
            scratch = device.allocate(tableBytes + made.dim(0) * made.dim(2) * Float.BYTES);
            SAMPLES.set(arguments, samples);
            BANDS.set(arguments, made.dim(1));
            FRAMES.set(arguments, made.dim(2));
            TABLES.set(arguments, scratch.address());
            MOST.set(arguments, scratch.address() + tableBytes);
            try {
                DeviceThread.run(device, "mel tables", () -> upload(device));
            } catch (RuntimeException | Error e) {
                scratch.close();
                throw e;
            }
        }

        private void upload(Device device) {
            IntBuffer words = IntBuffer.allocate(TABLE_WORDS);
            step.putTables(words);
            try (PinnedBuffer pinned = device.allocatePinned((long) TABLE_WORDS * Integer.BYTES);
                    DeviceStream stream = device.openStream("mel tables")) {
                RawMemory.set(words.array(), 0, TABLE_WORDS, pinned.segment().address());
                stream.copyToDevice(scratch, 0, pinned, 0, pinned.segment().byteSize());
                stream.synchronize();
            }
        }

        /** The twin of both kernels. */
        private void run(MemorySegment words) {
            long clip = SAMPLES.get(words) * Float.BYTES;
            long result = BANDS.get(words) * FRAMES.get(words) * Float.BYTES;
            for (long i = 0; i < BATCH.get(words); i++) {
                step.compute(RawMemory.all(), SOURCE.get(words) + i * clip, SAMPLES.get(words), RawMemory.all(),
                        TARGET.get(words) + i * result);
            }
        }

        @Override
        public SlabLayout outputs() {
            return outputs;
        }

        @Override
        public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
            if (in.dim(index, 1) != samples) {
                throw new IllegalArgumentException(in.layout().fields().get(index) + ": dimension 1 is "
                        + in.dim(index, 1) + " in this batch, expected it to be the same in all");
            }
            long batch = in.dim(index, 0);
            out.setDim(0, 0, batch);
            SOURCE.set(arguments, in.address(index));
            BATCH.set(arguments, batch);
            TARGET.set(arguments, out.address(0));
            stream.launch(logarithms, Kernel.blocks(batch * Math.ceilDiv(FRAMES.get(arguments), BLOCK_FRAMES)),
                    arguments);
            stream.launch(SCALE, Kernel.blocks(batch * BANDS.get(arguments)), arguments);
        }

        @Override
        public void close() {
            scratch.close();
        }
    }
}
