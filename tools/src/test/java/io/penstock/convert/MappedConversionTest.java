// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.Decoder;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a dataset that the caller's code converts. */
class MappedConversionTest {

    private static final int SAMPLES = 23;

    @TempDir
    Path folder;

    /** Sample i is i and a number that depends on its position and the seed. */
    private static Dataset samples(long salt) {
        return Dataset.generate(SAMPLES, List.of(new TensorSpec("x", DType.I64, 2)), "numbers " + salt,
                (sample, random, out) -> {
                    MemorySegment values = out.tensor(0).segment();
                    values.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, sample + salt);
                    values.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, random.nextLong());
                });
    }

    /** The square of the first number and the second one, as an array and a text. */
    private static void squares(Batch batch, MappedConversion.SampleFiles out) {
        try (Arena arena = Arena.ofConfined()) {
            Tensor made = Tensor.of(arena.allocate(16L * batch.count()), DType.I64, batch.count(), 2);
            for (int row = 0; row < batch.count(); row++) {
                MemorySegment in = batch.tensor("x").row(row).segment();
                long x = in.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
                made.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 16L * row, x * x);
                made.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 16L * row + 8,
                        in.get(ValueLayout.JAVA_LONG_UNALIGNED, 8));
                out.file(row, "TXT", MemorySegment.ofArray(("square of " + x).getBytes(StandardCharsets.UTF_8)));
            }
            out.arrays("y", made);
        }
    }

    private MappedConversion conversion(String name) {
        return Conversion.map(samples(0), folder.resolve(name), MappedConversionTest::squares).batchSize(4).shardsOf(7)
                .seed(5).workers(2);
    }

    private TreeMap<String, String> files(String name) throws IOException {
        var found = new TreeMap<String, String>();
        try (var list = Files.list(folder.resolve(name))) {
            // An index beside a tar has the time of the tar.
            for (Path file : list.filter(f -> !f.toString().endsWith(".penstock-index")).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                found.put(file.getFileName().toString(), bytes.length + " bytes, " + Arrays.hashCode(bytes));
            }
        }
        return found;
    }

    @Test
    void theTarsAreOneStoreOfWhatTheCodeMade() throws Exception {
        ConversionSummary summary = conversion("all").run();
        assertEquals(SAMPLES, summary.records());
        assertEquals(List.of("shard-000000.tar", "shard-000001.tar", "shard-000002.tar"),
                summary.files().stream().map(file -> file.getFileName().toString()).toList());
        List<Long> drawn = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(samples(0)).batchSize(5).seed(5).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        drawn.add(batch.tensor("x").row(row).segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8));
                    }
                }
            }
        }
        try (RecordStore store = RecordStore.open(folder.resolve("all"));
                DataLoader loader = DataLoader.builder(RecordFields.of(store).and("y.npy",
                        Decoder.npy(DType.I64, 2))).batchSize(1).endEpoch(1).open()) {
            assertEquals(SAMPLES, store.size());
            for (long i = 0; i < SAMPLES; i++) {
                assertEquals(Long.toString(i), store.key(i));
                try (Batch batch = loader.next()) {
                    MemorySegment row = batch.tensor("y.npy").segment();
                    assertEquals(i * i, row.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
                    assertEquals(drawn.get((int) i), row.get(ValueLayout.JAVA_LONG_UNALIGNED, 8));
                }
            }
        }
    }

    @Test
    void threadsShardsAndAResumedRunGiveTheSameBytes() throws Exception {
        conversion("all").run();
        conversion("threads").threads(3).run();
        assertEquals(files("all"), files("threads"));
        assertEquals(7, conversion("shards").shard(new Shard(2, 3, TailPolicy.EXACT)).run().records());
        conversion("shards").shard(new Shard(0, 3, TailPolicy.EXACT)).run();
        conversion("shards").shard(new Shard(1, 3, TailPolicy.EXACT)).run();
        assertEquals(files("all"), files("shards"));
        var calls = new AtomicInteger();
        MappedConversion stopped = Conversion.map(samples(0), folder.resolve("resumed"), (batch, out) -> {
            if (calls.incrementAndGet() == 4) {
                throw new IOException("stopped");
            }
            squares(batch, out);
        }).batchSize(4).shardsOf(7).seed(5);
        assertEquals("stopped", assertThrows(IOException.class, stopped::run).getMessage());
        assertEquals(List.of("conversion.json", "shard-000000.tar", "shard-000000.tar.crc32c"),
                List.copyOf(files("resumed").keySet()));
        var told = new ConcurrentSkipListSet<Long>();
        assertEquals(SAMPLES - 8, conversion("resumed").progress((done, total) -> {
            assertEquals(SAMPLES, total);
            told.add(done);
        }).run().records());
        assertEquals(List.of(12L, 16L, 20L, 23L), List.copyOf(told));
        assertEquals(files("all"), files("resumed"));
        assertEquals(0, conversion("resumed").run().records());
    }

    @Test
    void aFolderOfAnotherConversionIsRefused() throws Exception {
        conversion("all").run();
        for (MappedConversion other : List.of(conversion("all").version("2"), conversion("all").seed(6),
                conversion("all").shardsOf(9), Conversion.map(samples(1), folder.resolve("all"),
                        MappedConversionTest::squares).batchSize(4).shardsOf(7).seed(5))) {
            String message = assertThrows(ConversionException.class, other::run).getMessage();
            assertTrue(message.contains("the folder has another conversion"), message);
        }
    }

    @Test
    void whatTheCodeGivesIsChecked() {
        assertThrows(IllegalArgumentException.class, () -> Conversion.map(samples(0), folder.resolve("a"),
                (batch, out) -> out.arrays("y", Tensor.of(MemorySegment.ofArray(new byte[8]), DType.I64, 1)))
                .batchSize(4).run());
        assertThrows(IllegalArgumentException.class, () -> Conversion.map(samples(0), folder.resolve("b"),
                (batch, out) -> {
                    squares(batch, out);
                    squares(batch, out);
                }).threads(2).shardsOf(4).batchSize(4).run());
        assertFalse(Files.exists(folder.resolve("b").resolve("shard-000000.tar")));
    }
}
