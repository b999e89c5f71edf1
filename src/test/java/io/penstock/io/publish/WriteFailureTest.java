// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WriteFailureTest {

    @TempDir
    private Path folder;

    @Test
    void aPermissionThatIsMissingIsOneOfTheFolderAndNotOfAHiddenName() {
        Path store = folder.resolve("store");
        IOException e = assertThrows(IOException.class, () -> WriteFailure.naming(store, () -> {
            throw new AccessDeniedException(folder.resolve(".store.writing").toString());
        }));
        assertEquals(store + ": cannot be written: permission denied in the folder " + folder, e.getMessage());
    }

    @Test
    void aFolderThatIsMissingIsNamedAndNotAHiddenOneInIt() {
        Path store = folder.resolve("missing/store");
        NoSuchFileException e = assertThrows(NoSuchFileException.class, () -> StagingFolder.open(store));
        assertEquals(store.toString(), e.getFile());
        assertEquals("no folder " + folder.resolve("missing") + " to write in", e.getReason());
    }
}
