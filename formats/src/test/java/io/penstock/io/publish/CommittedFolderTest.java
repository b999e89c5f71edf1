// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.store.IfExists;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Wherever a writer stops, a store is the old one or the new one, to whoever opens, inspects or verifies it. */
class CommittedFolderTest {

    private static final int OLD = 4;
    private static final int NEW = 7;

    @TempDir
    private Path temporary;

    private Path written(WrittenStore store, String name, int version) throws IOException {
        Path folder = Files.createDirectory(temporary.resolve(name));
        store.write(folder, version);
        return folder;
    }

    /** A folder with the old files, if there are any, and those of the new store in another place. */
    private Path state(Path before, Path after, String place, String surplus) throws IOException {
        Path state = Files.createTempDirectory(temporary, "state-");
        if (before != null) {
            copy(before, state);
        }
        Path files = Files.createDirectories(state.resolve(place));
        copy(after, files);
        if (!surplus.isEmpty()) {
            Files.writeString(files.resolve(surplus), surplusOf(before, after));
        }
        return state;
    }

    private static void copy(Path from, Path to) throws IOException {
        for (Path file : Folders.files(from)) {
            Files.copy(file, to.resolve(file.getFileName()));
        }
    }

    private static String surplusOf(Path before, Path after) throws IOException {
        List<String> surplus = new ArrayList<>(before == null ? List.of() : Folders.names(before));
        surplus.removeAll(Folders.names(after));
        return "[\"" + String.join("\",\"", surplus) + "\"]";
    }

    private static Map<String, byte[]> bytes(Path folder) throws IOException {
        Map<String, byte[]> bytes = new LinkedHashMap<>();
        for (Path file : Folders.files(folder)) {
            bytes.put(file.getFileName().toString(), Files.readAllBytes(file));
        }
        return bytes;
    }

    private static void assertSame(Path expected, Path found) throws IOException {
        Map<String, byte[]> wanted = bytes(expected);
        Map<String, byte[]> is = bytes(found);
        assertEquals(wanted.keySet(), is.keySet());
        for (String name : wanted.keySet()) {
            assertArrayEquals(wanted.get(name), is.get(name), name);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCommittedStoreIsReadWholeAtEveryStepAndFinishedByTheNextWriter(WrittenStore store) throws Exception {
        Path old = written(store, "old", OLD);
        Path after = written(store, "new", NEW);
        String expected = store.read(after);
        assertNotEquals(store.read(old), expected);
        List<String> order = Folders.names(after).stream()
                .sorted(Comparator.comparingInt((String name) -> -name.length()).thenComparing(name -> name)).toList();
        List<String> surplus = new ArrayList<>(Folders.names(old));
        surplus.removeAll(order);
        for (Path before : new Path[] {null, old}) {
            for (int moved = 0; moved <= order.size() + (before == null ? 0 : surplus.size()); moved++) {
                Path state = state(before, after, "." + store.target + ".committed",
                        before == null || surplus.isEmpty() ? "" : "." + store.target + ".surplus");
                Path committed = state.resolve("." + store.target + ".committed");
                for (int i = 0; i < moved; i++) {
                    if (i < order.size()) {
                        Files.move(committed.resolve(order.get(i)), state.resolve(order.get(i)),
                                StandardCopyOption.REPLACE_EXISTING);
                    } else {
                        Files.delete(state.resolve(surplus.get(i - order.size())));
                    }
                }
                String step = (before == null ? "first, " : "replacing, ") + moved + " steps";
                assertEquals(expected, store.read(state), step);
                assertEquals("[]", store.faults(state), step);
                StagingFolder.open(state.resolve(store.target)).close();
                assertSame(after, state);
                assertEquals(expected, store.read(state), step);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotCommittedIsNotReadAndRemovedByTheNextWriter(WrittenStore store) throws Exception {
        Path old = written(store, "old", OLD);
        Path after = written(store, "new", NEW);
        Path state = state(old, after, "." + store.target + ".writing/new", "");
        Files.createFile(state.resolve("." + store.target + ".writing/lock"));
        assertEquals(store.read(old), store.read(state));
        assertEquals("[]", store.faults(state));
        StagingFolder.open(state.resolve(store.target)).close();
        assertSame(old, state);
        Path first = state(null, after, "." + store.target + ".writing/new", "");
        if (!store.opened.isEmpty()) {
            assertThrows(IOException.class, () -> store.read(first));
        }
        StagingFolder.open(first.resolve(store.target)).close();
        assertEquals(List.of(), Folders.names(first));
    }

    @ParameterizedTest
    @EnumSource
    void aStoreThatIsReplacedLeavesNothingOfTheOldOne(WrittenStore store) throws Exception {
        Path after = written(store, "new", NEW);
        Path folder = written(store, "store", OLD);
        store.write(folder, NEW);
        assertEquals(Folders.names(after), Folders.names(folder));
        assertEquals(store.read(after), store.read(folder));
        assertEquals("[]", store.faults(folder));
    }

    @Test
    void aFileThatCannotBeMovedIsToldAsWhatItIsAndTheNextWriterGoesOn() throws Exception {
        Path after = written(WrittenStore.MEGATRON, "new", NEW);
        String expected = WrittenStore.MEGATRON.read(after);
        Path state = state(null, after, ".corpus.committed", "");
        Files.createDirectories(state.resolve("corpus.bin/full"));
        assertEquals(expected, WrittenStore.MEGATRON.read(state));
        String message = assertThrows(IOException.class, () -> StagingFolder.open(state.resolve("corpus")))
                .getMessage();
        assertTrue(message.contains(state.resolve("corpus") + ": is complete")
                && message.contains("corpus.bin") && message.contains("next writer"), message);
        assertFalse(Files.exists(state.resolve(".corpus.writing")));
        assertEquals(expected, WrittenStore.MEGATRON.read(state));
        assertEquals("[]", WrittenStore.MEGATRON.faults(state));
        Files.delete(state.resolve("corpus.bin/full"));
        Files.delete(state.resolve("corpus.bin"));
        StagingFolder.open(state.resolve("corpus")).close();
        assertSame(after, state);
    }

    @ParameterizedTest
    @EnumSource
    void aFolderWhereAFileWouldBeRefusesTheNewStoreAndKeepsTheOldOne(WrittenStore store) throws Exception {
        Path folder = written(store, "store", OLD);
        String before = store.read(folder);
        Path blocked = Folders.files(folder).stream()
                .filter(file -> file.toString().endsWith(BlockChecksums.SUFFIX)).findFirst().orElseThrow();
        Files.delete(blocked);
        Files.createDirectories(blocked.resolve("full"));
        List<String> names = Folders.names(folder);
        String message = assertThrows(IOException.class, () -> store.write(folder, NEW)).getMessage();
        assertTrue(message.contains(blocked.getFileName().toString()), message);
        assertEquals(before, store.read(folder));
        assertEquals(names, Folders.names(folder));
    }

    @Test
    void checksumsOfAFileThatIsNotInItsPlaceYetAreThoseOfTheNewOne() throws Exception {
        Path old = written(WrittenStore.NPY, "old", OLD);
        Path after = written(WrittenStore.NPY, "new", NEW);
        Path state = state(old, after, ".x.npy.committed", "");
        BlockChecksums.write(state.resolve("x.npy"), IfExists.REPLACE, _ -> { });
        assertSame(after, state);
    }

    @Test
    void anInterruptDoesNotKeepACommitFromLasting() throws Exception {
        Path folder = written(WrittenStore.NPY, "store", OLD);
        try (StagingFolder staging = StagingFolder.open(folder.resolve("x.npy"))) {
            for (String name : List.of("x.npy", "x.npy.crc32c")) {
                staging.create(name).close();
            }
            Thread.currentThread().interrupt();
            staging.publish(List.of("x.npy", "x.npy.crc32c"));
            assertTrue(Thread.interrupted());
        }
        assertEquals(List.of("x.npy", "x.npy.crc32c"), Folders.names(folder));
        assertEquals(0, Files.size(folder.resolve("x.npy")));
    }

    @Test
    void aListOfSurplusFilesThatLeadsElsewhereIsRefused() throws Exception {
        Path after = written(WrittenStore.TARS_BY_FOLDER, "new", NEW);
        Path state = state(null, after, ".x-%06d.tar.committed", "");
        Path list = state.resolve(".x-%06d.tar.committed/.x-%06d.tar.surplus");
        Path victim = Files.writeString(temporary.resolve("victim"), "kept");
        for (String text : List.of("[\"../victim\"]", "[\"..\"]", "[1]", "{}", "[\"a\\u0000\"]", "[")) {
            Files.writeString(list, text);
            String message = assertThrows(MalformedStoreException.class,
                    () -> StagingFolder.open(state.resolve("x-%06d.tar"))).getMessage();
            assertTrue(message.contains(".surplus"), message);
            assertTrue(Files.exists(victim));
        }
    }
}
