// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Fixtures;
import io.penstock.store.Progress;
import io.penstock.store.Truth;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MdsShardWriterTest {

    @TempDir
    private Path folder;

    private static SortedMap<String, String> columns(MdsIndex index) {
        SortedMap<String, String> columns = new TreeMap<>();
        IntStream.range(0, index.names().size())
                .forEach(i -> columns.put(index.names().get(i), index.encodings().get(i).text()));
        return columns;
    }

    private static List<MemorySegment> values(MdsStore store, long sample) {
        List<MemorySegment> values = new ArrayList<>();
        Span span = new Span();
        for (int column = 0; column < store.columns().size(); column++) {
            store.locate(sample, column, span);
            values.add(MemorySegment.ofArray(span.slice().toArray(JAVA_BYTE)));
        }
        return values;
    }

    /** Writes samples of a dataset as one shard. */
    private String write(MdsStore from, long first, long end, String name) throws IOException {
        try (MdsShardWriter shard = MdsShardWriter.create(folder.resolve(name), columns(from.index()))) {
            for (long sample = first; sample < end; sample++) {
                shard.write(values(from, sample));
            }
            return shard.commit(name);
        }
    }

    static Stream<Path> written() throws IOException {
        return Stream.of(Fixtures.path("mds/mixed_columns"), Fixtures.path("mds/images"), Truth.written("mds/scalars"),
                Truth.written("mds/arrays"));
    }

    /** All but the configuration: the count, the distances of the offsets, and the samples. */
    @ParameterizedTest
    @MethodSource("written")
    void aShardHasTheBytesOfTheLibrarys(Path dataset) throws IOException {
        try (MdsStore store = MdsStore.open(Location.of(dataset), null)) {
            long samples = store.index().shards().getFirst().samples();
            write(store, 0, samples, "shard.mds");
            assertArrayEquals(content(dataset.resolve("shard.00000.mds")), content(folder.resolve("shard.mds")));
        }
    }

    private static int[] content(Path shard) throws IOException {
        MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(shard));
        int count = bytes.get(LittleEndian.I32, 0);
        int start = bytes.get(LittleEndian.I32, 4);
        return IntStream.concat(IntStream.rangeClosed(0, count).map(i -> i == 0 ? count
                : bytes.get(LittleEndian.I32, 4 + 4L * i) - start),
                IntStream.range(start, (int) bytes.byteSize()).map(i -> bytes.get(JAVA_BYTE, i))).toArray();
    }

    @Test
    void shardsOfTheIndexAreReadInOrderAndVerified() throws IOException {
        Path dataset = Truth.written("mds/scalars");
        try (MdsStore store = MdsStore.open(Location.of(dataset), null)) {
            String last = write(store, 20, store.size(), "b.mds");
            Files.createDirectory(folder.resolve("sub"));
            String first = write(store, 0, 20, "sub/a.mds");
            Files.writeString(folder.resolve("index.json"), MdsShardWriter.index(List.of(first, last)));
            try (MdsStore copy = MdsStore.open(Location.of(folder), null)) {
                assertEquals(store.columns(), copy.columns());
                assertEquals(store.size(), copy.size());
                for (long sample = 0; sample < store.size(); sample++) {
                    assertEquals(-1, mismatch(values(store, sample), values(copy, sample)));
                }
                assertEquals(List.of(), faults(copy));
            }
        }
        byte[] damaged = Files.readAllBytes(folder.resolve("b.mds"));
        damaged[damaged.length - 1]++;
        Files.write(folder.resolve("b.mds"), damaged);
        try (MdsStore copy = MdsStore.open(Location.of(folder), null)) {
            assertEquals(1, faults(copy).size());
        }
    }

    private static int mismatch(List<MemorySegment> a, List<MemorySegment> b) {
        return IntStream.range(0, a.size()).filter(i -> a.get(i).mismatch(b.get(i)) >= 0).findFirst().orElse(-1);
    }

    private static List<Fault> faults(MdsStore store) throws IOException {
        List<Fault> faults = new ArrayList<>();
        store.verify(faults::add, Progress.NONE);
        return faults;
    }

    @Test
    @SuppressWarnings("restricted")
    void valuesThatDoNotFitAreRefusedAndNothingIsLeftWithoutACommit() throws IOException {
        Path file = folder.resolve("shard.mds");
        try (MdsShardWriter shard = MdsShardWriter.create(file, new TreeMap<>(Map.of("a", "int", "b",
                "str")))) {
            MemorySegment text = MemorySegment.ofArray(new byte[3]);
            assertEquals(file + ": sample 0, column 'a': found 3 bytes, expected 8 as int",
                    assertThrows(IllegalArgumentException.class, () -> shard.write(List.of(text, text))).getMessage());
            assertEquals(file + ": found 1 values, expected one for each of [a, b]",
                    assertThrows(IllegalArgumentException.class, () -> shard.write(List.of(text))).getMessage());
            MemorySegment huge = MemorySegment.NULL.reinterpret((1L << 32) - 64);
            assertTrue(assertThrows(IllegalArgumentException.class, () -> shard.write(List.of(
                    MemorySegment.ofArray(new byte[8]), huge))).getMessage().contains("expected at most 4294967295"));
            shard.write(List.of(MemorySegment.ofArray(new byte[8]), text));
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
        assertThrows(IllegalArgumentException.class, () -> MdsShardWriter.create(file, new TreeMap<>()));
        assertThrows(IllegalArgumentException.class, () -> MdsShardWriter.create(file,
                new TreeMap<>(Map.of("a", "ndarray:complex64"))));
    }
}
