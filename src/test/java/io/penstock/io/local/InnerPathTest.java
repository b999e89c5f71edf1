// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.io.Location;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InnerPathTest {

    private static final Path FOLDER = Path.of("data");

    @Test
    void aFileInTheFolderOrBelowItIsFound() {
        assertDoesNotThrow(() -> InnerPath.checkName(FOLDER, "a"));
        assertDoesNotThrow(() -> InnerPath.checkName(FOLDER, "..a"));
        assertEquals(Path.of("data/a/b"), Location.of(FOLDER).below("a/b").local().orElseThrow());
        assertThrows(IllegalArgumentException.class, () -> InnerPath.checkName(FOLDER, "a/b"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "/a", "a/..", "../data/a", "./a", "a/./b", "a\\b", "..\\b", "a\0b"})
    void whatLeadsOutOrIsNoPathIsRefused(String name) {
        assertThrows(IllegalArgumentException.class, () -> Location.of(FOLDER).below(name));
        assertThrows(IllegalArgumentException.class, () -> InnerPath.checkName(FOLDER, name));
    }
}
