// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** A stage that reads the host memory of a batch finds the batch there until its work has run. */
class StageReadsHostTest {

    private static final int WIDTH = 128;
    private static final int BATCH = 8;

    private static final StructLayout LAYOUT = Word.struct("Copy", "from", "to", "bytes");
    private static final Word FROM = Word.of(LAYOUT, "from");
    private static final Word TO = Word.of(LAYOUT, "to");
    private static final Word BYTES = Word.of(LAYOUT, "bytes");
    private static final Kernel COPY = new Kernel("copy", LAYOUT,
            words -> RawMemory.copy(FROM.get(words), TO.get(words), BYTES.get(words)));

    /** Copies the rows from host memory. */
    private static OpenStage open(Device device, SlabLayout fields) {
        int rows = fields.indexOf("row");
        SlabLayout made = SlabLayout.of(new TensorSpec("seen", DType.U8, BATCH, WIDTH));
        MemorySegment words = COPY.newArguments();
        return new OpenStage() {
            @Override
            public SlabLayout outputs() {
                return made;
            }

            @Override
            public boolean readsHost() {
                return true;
            }

            @Override
            public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
                out.setDim(0, 0, in.dim(rows, 0));
                FROM.set(words, in.hostAddress(rows));
                TO.set(words, out.address(0));
                BYTES.set(words, in.dim(rows, 0) * WIDTH);
                stream.launch(COPY, 1, words);
            }
        };
    }

    @Test
    void hostMemoryHoldsTheBatchThatTheStageIsEnqueuedFor() {
        DeviceStage stage = StageReadsHostTest::open;
        try (Device device = Device.host(); DataLoader loader = DataLoader.builder(new ByteRows(1_000, WIDTH))
                .batchSize(BATCH).shuffle(7).workers(2).prefetch(1).device(device).onDevice(stage).endEpoch(4).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        MemorySegment seen = batch.tensor("seen").row(row).segment();
                        for (int i = 0; i < WIDTH; i++) {
                            assertEquals(ByteRows.at(batch.sample(row), i), seen.get(ValueLayout.JAVA_BYTE, i));
                        }
                    }
                }
            }
        }
    }
}
