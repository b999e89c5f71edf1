// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.io.Advice;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.DType;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Another process truncates a store's file under its mapping: an error that names the file, and no crash. */
@EnabledOnOs(OS.LINUX)
class ShrinkingFileTest {

    private static final int TOKENS = 1 << 20;

    @TempDir
    private Path folder;

    private Path write() throws IOException {
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            for (int d = 0; d < TOKENS / 8; d++) {
                part.append(new int[] {1, 2, 3, 4, 5, 6, 7, 8}, 0, 8);
                part.endDocument();
            }
            writer.commit();
        }
        return prefix;
    }

    private static void truncate(String file, long bytes) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file, "rw")) {
            open.setLength(bytes);
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void readingTokensThatAreGoneNamesTheFileAndBothSizes(ReadMode mode) throws IOException {
        Path prefix = write();
        try (TokenStore store = TokenStore.open(prefix); SpanReader reader = new SpanReader(mode);
                Arena arena = Arena.ofConfined()) {
            Span span = new Span();
            MemorySegment target = arena.allocate(1 << 16);
            truncate(prefix + ".bin", 8192);
            store.locate(TOKENS - 30_000, 30_000, span);
            String message = assertThrows(UncheckedIOException.class, () -> {
                try {
                    reader.copy(span, target, 0);
                } catch (InternalError late) {
                    // The JVM may raise the fault only when the compiled copy has returned.
                    throw reader.explain(late);
                }
            }).getCause().getMessage();
            assertTrue(message.contains("corpus.bin") && message.contains("8192") && message.contains("2097152"),
                    message);
            assertThrows(UncheckedIOException.class, () -> {
                Span local = reader.local(span);
                try {
                    MemorySegment.copy(local.segment(), local.byteOffset(), target, 0, local.byteSize());
                } catch (InternalError fault) {
                    throw reader.explain(fault);
                }
            });
            store.locate(0, 4096, span);
            assertThrows(UncheckedIOException.class, () -> reader.copy(span, target, 0),
                    "though these bytes are there");
        }
    }

    @Test
    void aDocumentIndexThatIsGoneNamesTheFile() throws IOException {
        Path prefix = write();
        try (TokenStore store = TokenStore.open(prefix); SpanReader reader = new SpanReader(ReadMode.MMAP)) {
            Span span = new Span();
            store.locate(0, 1, span);
            reader.local(span);
            truncate(prefix + ".idx", 4096);
            String message = assertThrows(UncheckedIOException.class, () -> {
                try {
                    store.documentStart(store.documentCount());
                } catch (InternalError late) {
                    // The JVM may raise the fault only when the compiled look-up has returned.
                    throw reader.explain(late);
                }
            }).getCause().getMessage();
            assertTrue(message.contains("corpus.idx") && message.contains("4096"), message);
        }
    }

    @Test
    void aFingerprintAndAnInspectionOfWhatIsGoneNameTheFile() throws IOException {
        Path prefix = write();
        try (TokenStore store = TokenStore.open(prefix)) {
            truncate(prefix + ".bin", 4096);
            assertTrue(assertThrows(UncheckedIOException.class, store::fingerprint).getMessage()
                    .contains("corpus.bin"));
            assertTrue(assertThrows(IOException.class,
                    () -> Inspection.of(Location.of(prefix), store, Depth.CONTENT,
                    Progress.NONE)).getMessage().contains("corpus"));
        }
    }

    @Test
    void populatingWhatIsGoneIsRefusedByTheSystemAndHarmsNothing() throws IOException {
        Path prefix = write();
        try (TokenStore store = TokenStore.open(prefix)) {
            Span span = new Span();
            store.locate(0, TOKENS, span);
            Assumptions.assumeTrue(span.file().advise(Advice.POPULATE_READ, 0, 2L * TOKENS), "Linux before 5.14");
            truncate(prefix + ".bin", 4096);
            assertEquals(false, span.file().advise(Advice.POPULATE_READ, 0, 2L * TOKENS));
            assertThrows(UncheckedIOException.class, () -> span.file().checkUnchanged());
        }
    }
}
