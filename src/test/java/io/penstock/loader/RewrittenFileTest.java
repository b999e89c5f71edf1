// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.io.ReadMode;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A file that is written to, its size unchanged, while a loader reads it. */
@EnabledOnOs(OS.LINUX)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RewrittenFileTest {

    private static final int COLUMNS = 64;
    private static final int ROWS = 4_096;

    @TempDir
    private Path folder;

    /** Until the OS has another time for it. */
    private static void rewrite(Path file) throws IOException {
        Object before = Files.getAttribute(file, "unix:ctime");
        do {
            try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
                out.seek(out.length() / 2);
                out.write(new byte[1000]);
            }
        } while (Files.getAttribute(file, "unix:ctime").equals(before));
    }

    private static BatchException takeUntilItFails(DataLoader loader) {
        while (true) {
            try {
                loader.next().close();
            } catch (BatchException e) {
                return e;
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"MMAP, 2", "PREAD, 2", "AUTO, 2", "MMAP, 0", "PREAD, 0"})
    void theLoaderFailsByItsNameFromThereOn(ReadMode read, int workers) throws IOException {
        Path file = Corpora.rawU16(folder, 500_000, 1);
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 256)).batchSize(16).shuffle(1)
                        .readMode(read).workers(workers).open()) {
            for (int i = 0; i < 50; i++) {
                loader.next().close();
            }
            rewrite(file);
            BatchException error = takeUntilItFails(loader);
            assertTrue(error.getMessage().contains(file + ": the file was written to while it was open"),
                    error.getMessage());
            for (int i = 0; i <= loader.memory().hostSlots(); i++) {        // what was made before is given still
                try {
                    loader.next().close();
                } catch (BatchException e) {
                    assertTrue(e.getMessage().contains("was written to"), e.getMessage());
                }
            }
            assertThrows(BatchException.class, loader::next);
        }
    }

    /** Members are decoded when they are first read, from a file that then is another. */
    @Test
    void whatIsDecodedOfAnotherFileIsNotGiven() throws IOException {
        Path file = npz();
        try (TensorStore store = TensorStore.open(file)) {
            rewrite(file);
            String message = assertThrows(UncheckedIOException.class,
                    () -> DataLoader.builder(TensorRows.of(store)).open()).getMessage();
            assertTrue(message.contains(file + ": the file was written to while it was open"), message);
        }
    }

    private Path npz() throws IOException {
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + ROWS + ", " + COLUMNS + "), }";
        Path file = folder.resolve("rows.npz");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
            zip.putNextEntry(new ZipEntry("row.npy"));
            zip.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
            zip.write((header + " ".repeat(117 - header.length()) + "\n").getBytes(StandardCharsets.US_ASCII));
            zip.write(new byte[ROWS * COLUMNS]);
            zip.closeEntry();
            zip.putNextEntry(new ZipEntry("note.txt"));                     // the middle of the file is in here
            byte[] note = new byte[1 << 20];
            new SplittableRandom(3).nextBytes(note);
            zip.write(note);
            zip.closeEntry();
        }
        return file;
    }
}
