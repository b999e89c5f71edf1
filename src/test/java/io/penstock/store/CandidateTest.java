// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CandidateTest {

    @TempDir
    private Path folder;

    @Test
    void filesOfAnEndingAreFoundBehindManyFoldersOfIt() throws IOException {
        for (int i = 0; i < 100; i++) {
            Files.createDirectory(folder.resolve(i + ".parquet"));
        }
        assertFalse(Candidate.of(Location.of(folder)).holdsEnding(".parquet"));
        Files.createFile(folder.resolve("x.parquet"));
        assertTrue(Candidate.of(Location.of(folder)).holdsEnding(".parquet"));
        assertFalse(Candidate.of(Location.of(folder)).holdsEnding(".arrow"));
        assertFalse(Candidate.of(Location.of(folder.resolve("x.parquet"))).holdsEnding(".parquet"));
    }

    @Test
    void filesAreInTheOrderOfTheirBytes() throws IOException {
        List<String> names = List.of("a", "b", "aa", "\u00e9", "e\u0301", "\uffee", "\ud83d\ude00", "\ud83d\ude01x",
                "Z", "\ud840\udc00", "a-10", "a-9");
        for (String name : names) {
            Files.createFile(folder.resolve(name));
        }
        assertEquals(names.stream().sorted((a, b) -> Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8),
                b.getBytes(StandardCharsets.UTF_8))).toList(),
                Location.of(folder).files(_ -> true).stream().map(Location::name).toList());
    }
}
