// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Sampler.LaneState;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoaderStateTest {

    private static final LoaderState STATE =
            new LoaderState(3, 1L << 61, Long.MIN_VALUE, "feistel-8 size=7 seed=1", "sha256:ab\"\\é\n");

    @TempDir
    private Path folder;

    @Test
    void textAndFileGiveTheStateBack() throws IOException {
        assertEquals(STATE, LoaderState.fromJson(STATE.toJson()));
        Path file = folder.resolve("state.json");
        STATE.write(file);
        assertEquals(STATE, LoaderState.read(file));
        LoaderState later = new LoaderState(4, 0, 1, "", "");
        later.write(file);
        assertEquals(later, LoaderState.read(file));
        assertEquals(List.of("state.json"), Folders.names(folder));
        assertTrue(Files.size(file) < 300);
    }

    @Test
    void theTextFormIsAsSpecified() {
        LoaderState state = LoaderState.after(
                BatchSampler.of(Sampler.shuffled(1000, -7), 8, new Shard(1, 4, TailPolicy.EXACT))
                .withDataset("corpus"), 2);
        assertEquals("{\"penstock_state\":1,\"epoch\":0,\"position\":96,\"seed\":-7,"
                + "\"sampler\":\"feistel-8 size=1000 seed=-7\",\"dataset\":\"corpus\"}", state.toJson());
    }

    @Test
    void batchSizeRanksAndTailAreNotPartOfTheState() {
        LoaderState state = LoaderState.before(BatchSampler.of(Sampler.shuffled(100, 1), 8, Shard.whole()));
        assertEquals(state, LoaderState.before(
                BatchSampler.of(Sampler.shuffled(100, 1), 5, new Shard(2, 3, TailPolicy.DROP))
                .droppingLast()));
    }

    @Test
    void anotherDatasetSamplerSizeOrSeedIsRefusedAndNamed() {
        LoaderState state = LoaderState.before(batches(Sampler.shuffled(100, 1), "a"));
        assertDoesNotThrow(() -> state.resume(batches(Sampler.shuffled(100, 1), "a")));
        assertRefused(state, Sampler.shuffled(100, 1), "b", List.of("dataset: the state has 'a', this run has 'b'"));
        assertRefused(state, Sampler.shuffled(101, 1), "a", List.of(
                "sampler: the state has 'feistel-8 size=100 seed=1', this run has 'feistel-8 size=101 seed=1'"));
        assertRefused(state, Sampler.shuffled(100, 2), "a", List.of(
                "sampler: the state has 'feistel-8 size=100 seed=1', this run has 'feistel-8 size=100 seed=2'",
                "seed: the state has '1', this run has '2'"));
        assertRefused(state, Sampler.sequential(100), "b", List.of(
                "dataset: the state has 'a', this run has 'b'",
                "sampler: the state has 'feistel-8 size=100 seed=1', this run has 'sequential size=100'",
                "seed: the state has '1', this run has '0'"));
    }

    @Test
    void aPositionPastTheEpochIsRefused() {
        LoaderState state = LoaderState.before(batches(Sampler.shuffled(100, 1), "a"));
        for (long position : new long[] {100, 101, (1L << 62) - 1}) {
            LoaderState past = new LoaderState(0, position, state.seed(), state.sampler(), state.dataset());
            var refused = assertThrows(StateMismatchException.class,
                    () -> past.resume(batches(Sampler.shuffled(100, 1), "a")));
            assertEquals(List.of("position: the state has " + position + ", this run has positions 0 to 99"),
                    refused.differences());
        }
        assertThrows(IllegalArgumentException.class, () -> new LoaderState(0, 1L << 62, 1, "s", "d"));
    }

    @Test
    void anEpochThatTheOrderLacksIsRefused() {
        BatchSampler last = batches(Sampler.shuffled(100, 1), "a").startingAt((1L << 62) - 1, 96);
        LoaderState end = LoaderState.after(last, 0);
        assertEquals(List.of(1L << 62, 0L), List.of(end.epoch(), end.position()));
        assertEquals(end, LoaderState.fromJson(end.toJson()));
        var refused = assertThrows(StateMismatchException.class, () -> end.resume(last));
        assertEquals(List.of("epoch: the state has 4611686018427387904, this run has epochs 0 to 4611686018427387903"),
                refused.differences());
        // Where draws are counted through all epochs there are fewer.
        Sampler seven = Sampler.sequential(7);
        Mixture mixture = Mixture.of(10, new Mixture.Source(seven, 0.8), new Mixture.Source(seven, 0.2));
        assertEquals((1L << 60), mixture.epochs());                              // 8 draws an epoch of the first
        mixture.epoch(mixture.epochs() - 1).at(9);
        assertThrows(ArithmeticException.class, () -> mixture.epoch(mixture.epochs()).at(9));
        Mixture nested = Mixture.of(10, new Mixture.Source(mixture, 1));
        assertEquals(Long.divideUnsigned(1L << 63, 10), nested.epochs());
        // Four draws an epoch of a source whose epochs have one: its last epoch is the limit.
        assertEquals(1L << 60, Mixture.of(4, new Mixture.Source(Sampler.sequential(1), 1)).epochs());
        Sampler balanced = Sampler.balanced(new int[] {0, 1, 1}, 10, 1);
        assertEquals(Long.divideUnsigned(1L << 63, 10), balanced.epochs());
        assertEquals(1L << 62, Sampler.balanced(new int[] {0, 1, 1}, 1, 1).epochs());
        assertEquals(1L << 62, Mixture.of(1, new Mixture.Source(seven, 1)).epochs());
        balanced.epoch(balanced.epochs() - 1).at(9);
        for (Sampler sampler : List.of(mixture, nested, balanced, Sampler.lengthBucketed(balanced, _ -> 1, 2, 2, 3),
                Sampler.subset(new long[] {1, 0, 2}, 3, balanced))) {
            var late = new LoaderState(sampler.epochs(), 0, sampler.seed(), sampler.fingerprint(), "a");
            assertThrows(StateMismatchException.class, () -> late.resume(batches(sampler, "a")));
            assertThrows(IllegalArgumentException.class, () -> batches(sampler, "a").startingAt(sampler.epochs(), 0));
            batches(sampler, "a").startingAt(sampler.epochs() - 1, 9).plan(0, new BatchPlan(4));
        }
    }

    private static BatchSampler batches(Sampler sampler, String dataset) {
        return BatchSampler.of(sampler, 4, Shard.whole()).withDataset(dataset);
    }

    private static void assertRefused(LoaderState state, Sampler sampler, String dataset, List<String> expected) {
        StateMismatchException e =
                assertThrows(StateMismatchException.class, () -> state.resume(batches(sampler, dataset)));
        assertEquals(expected, e.differences());
        for (String difference : expected) {
            assertTrue(e.getMessage().contains(difference), e.getMessage());
        }
    }

    @Test
    void textThatIsNotAStateIsRefusedWithTheReason() {
        assertReason("", "found the end");
        assertReason("[]", "found an array, expected an object");
        assertReason("{}", "penstock_state: found nothing, expected");
        assertReason(STATE.toJson().replace("_state\":1", "_state\":4"), "penstock_state: found 4, expected 1 to 3");
        assertReason(STATE.toJson().replace("_state\":1", "_state\":3"),
                "edits: found nothing, expected edits, a chain");
        assertReason(STATE.toJson().replace("_state\":1", "_state\":3").replace("}", ",\"chain\":\"0G\"}"),
                "chain: found 0G, expected 32 hexadecimal digits");
        for (String edit : new String[] {"", "{}", "{\"excise\":[0,3,3],\"at\":[0,0]}",
            "{\"excise\":[0,3],\"at\":[0,0]}", "{\"weights\":[0.0],\"at\":[0,0]}",
            "{\"feedback\":\"AA\",\"sources\":2}", "{\"feedback\":\"!\",\"sources\":2}",
            "{\"until\":[1,2],\"at\":[0,0],\"more\":1}", "{\"repeat\":[1,2,3],\"at\":[0,0]}"}) {
            assertReason(STATE.toJson().replace("_state\":1", "_state\":3").replace("}", ",\"edits\":[" + edit + "]}"),
                    "");
        }
        assertReason(STATE.toJson().replace("_state\":1", "_state\":2"), "lanes: found nothing, expected an array");
        assertReason(STATE.toJson().replace("\"epoch\":3", "\"epoch\":\"3\""), "epoch: found '3', expected a 64-bit");
        assertReason(STATE.toJson().replace("\"epoch\":3", "\"epoch\":3.0"), "epoch: found 3.0");
        assertReason(STATE.toJson().replace("\"epoch\":3", "\"epoch\":-3"), "epoch -3");
        assertReason(STATE.toJson().replace("-9223372036854775808", "9223372036854775808"), "seed: found 9223372036");
        assertReason(STATE.toJson().replace("{", "{\"batch\":1,"), "found 'batch', expected penstock_state, epoch");
        String text = STATE.toJson();
        for (int length = 0; length < text.length(); length++) {
            assertReason(text.substring(0, length), "");
        }
    }

    private static void assertReason(String text, String reason) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> LoaderState.fromJson(text), text);
        assertTrue(e.getMessage().contains(reason), e.getMessage());
    }

    @Test
    void aBadFileIsNamed() throws IOException {
        Path file = folder.resolve("broken.json");
        Files.writeString(file, "{\"penstock_state\":");
        Exception e = assertThrows(MalformedStoreException.class, () -> LoaderState.read(file));
        assertTrue(e.getMessage().startsWith(file + ": not a loader state: at offset 18"), e.getMessage());
        Files.write(file, new byte[] {'"', (byte) 0xFF, '"'});
        assertTrue(assertThrows(MalformedStoreException.class, () -> LoaderState.read(file)).getMessage()
                .contains("broken.json"));
        try (var large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(1 << 27);
        }
        assertTrue(assertThrows(MalformedStoreException.class, () -> LoaderState.read(file)).getMessage()
                .contains("134217728"));
        assertThrows(NoSuchFileException.class, () -> LoaderState.read(folder.resolve("absent.json")));
    }

    /** 64 lanes whose partitions fall silent by turns, and the ranks' states joined: 2 MB. */
    @Test
    void theStateOfAWideLiveStreamIsReadBack() throws IOException {
        String log = IntStream.range(0, 4096).mapToObj(i -> i + "-7 ").collect(Collectors.joining()) + 8192;
        List<LoaderState> ranks = new ArrayList<>();
        for (int lane = 0; lane < 64; lane++) {
            List<String> cursors = IntStream.range(0, 100).mapToObj(p -> "1234567890" + p).toList();
            ranks.add(new LoaderState(0, 1 << 20, 7, "stream live window=8192 seed=7 lanes=64", "d",
                    List.of(new LaneState(lane, 8192, 3, cursors, log))));
        }
        LoaderState joined = LoaderState.join(ranks);
        Path file = folder.resolve("state.json");
        joined.write(file);
        assertEquals(joined, LoaderState.read(file));
        Checkpoint saved = Checkpoint.save(folder, 5, joined);
        assertEquals(saved, Checkpoint.load(folder));
    }

    @Test
    void aFailedWriteLeavesTheFolderAsItWas() throws IOException {
        Path file = folder.resolve("state.json");
        Files.createDirectory(file);
        Files.writeString(file.resolve("inside"), "x");
        assertThrows(IOException.class, () -> STATE.write(file));
        assertThrows(FileSystemException.class, () -> STATE.write(folder.resolve("absent/state.json")));
        assertEquals(List.of("state.json"), Folders.names(folder));
    }

    @Test
    void aReaderNeverSeesHalfAState() throws Exception {
        Path file = folder.resolve("state.json");
        LoaderState shorter = new LoaderState(0, 0, 0, "s", "d");
        LoaderState longer = new LoaderState(1, 2, 3, "s".repeat(5000), "d".repeat(5000));
        shorter.write(file);
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = new Thread(() -> {
            for (int i = 0; i < 200; i++) {
                LoaderState next = (i & 1) == 0 ? longer : shorter;
                assertDoesNotThrow(() -> next.write(file));
            }
            done.set(true);
        });
        writer.start();
        while (writer.isAlive()) {
            LoaderState state = LoaderState.read(file);
            assertTrue(state.equals(shorter) || state.equals(longer));
        }
        writer.join();
        assertTrue(done.get());
        assertEquals(List.of("state.json"), Folders.names(folder));
    }
}
