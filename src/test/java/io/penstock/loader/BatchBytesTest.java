// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.collate.CausalLm;
import io.penstock.collate.Collator;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import io.penstock.testing.Digests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The contract that a batch has the same bytes whatever workers, prefetch, read mode, transfer and device are. */
class BatchBytesTest {

    private static final int LENGTH = 33;
    private static final int BATCH = 7;
    private static final int EPOCHS = 2;

    @TempDir
    Path folder;

    private record Settings(int workers, int prefetch, ReadMode read, TransferMode transfer, int deviceSlots,
            LeaseMode leases) {
    }

    @TestFactory
    Stream<DynamicTest> bytesDoNotDependOnHowTheyAreMade() throws Exception {
        Path file = Corpora.rawU16(folder, 40_000, 1);
        Collator[] collators = {CausalLm.narrow(), CausalLm.widened(DType.I32), CausalLm.widened(DType.I64)};
        List<List<String>> expected = new ArrayList<>();
        for (Collator collator : collators) {
            expected.add(run(file, collator, new Settings(0, 1, ReadMode.MMAP, TransferMode.IN_PLACE, 2,
                    LeaseMode.CONFINED)));
        }
        List<DynamicTest> tests = new ArrayList<>();
        for (int workers : new int[] {0, 1, 2, 5}) {
            for (int prefetch : new int[] {1, 3, 8}) {
                for (ReadMode read : ReadMode.values()) {
                    for (TransferMode transfer : new TransferMode[] {TransferMode.IN_PLACE, TransferMode.COPY}) {
                        int c = tests.size() % collators.length;
                        var settings = new Settings(workers, prefetch, read, transfer, 2 + prefetch % 3,
                                LeaseMode.values()[tests.size() / 4 % 3]);
                        tests.add(DynamicTest.dynamicTest(collators[c] + " " + settings,
                                () -> assertEquals(expected.get(c), run(file, collators[c], settings))));
                    }
                }
            }
        }
        return tests.stream();
    }

    /** Every batch of two epochs as text: its number, samples, shapes and the digest of each field. */
    private static List<String> run(Path file, Collator collator, Settings s) throws Exception {
        List<String> batches = new ArrayList<>();
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                Device device = Device.host();
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, LENGTH)).collator(collator)
                        .batchSize(BATCH).shuffle(11).endEpoch(EPOCHS).device(device)
                        .workers(s.workers).prefetch(s.prefetch).readMode(s.read).transfer(s.transfer)
                        .deviceSlots(s.deviceSlots).leases(s.leases).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    batches.add(describe(batch));
                }
            }
        }
        return batches;
    }

    private static String describe(Batch batch) {
        var text = new StringBuilder().append(batch.epoch()).append('/').append(batch.indexInEpoch());
        for (int row = 0; row < batch.count(); row++) {
            text.append(' ').append(batch.sample(row));
        }
        for (TensorSpec field : batch.fields()) {
            text.append(' ').append(field).append(' ').append(Digests.of(batch.tensor(field.name()).segment()));
        }
        return text.toString();
    }

    @Test
    void batchesHoldTheWindowsThatTheirSamplesName() throws Exception {
        Path file = Corpora.rawU16(folder, 10_000, 2);
        ByteBuffer raw = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, LENGTH)).batchSize(BATCH).shuffle(5)
                        .collator(CausalLm.widened(DType.I64)).endEpoch(1).open()) {
            boolean[] seen = new boolean[(10_000 - LENGTH - 1) / LENGTH + 1];
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        int sample = (int) batch.sample(row);
                        seen[sample] = true;
                        for (int t = 0; t < LENGTH; t++) {
                            int at = 2 * (sample * LENGTH + t);
                            assertEquals(raw.getShort(at) & 0xFFFF,
                                    batch.tensor("input_ids").getLong((long) row * LENGTH + t));
                            assertEquals(raw.getShort(at + 2) & 0xFFFF,
                                    batch.tensor("labels").getLong((long) row * LENGTH + t));
                        }
                    }
                }
            }
            boolean[] all = new boolean[seen.length];
            Arrays.fill(all, true);
            assertEquals(Arrays.toString(all), Arrays.toString(seen));
        }
    }
}
