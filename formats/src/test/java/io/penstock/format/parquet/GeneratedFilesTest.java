// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every value of generated files equals pyarrow's. {@code src/test/python/generated_parquet.py} writes the files with
 * the digests of their columns; a few are in the repository, and {@code -Dparquet.generated=FOLDER} reads others.
 */
class GeneratedFilesTest {

    @Test
    void everyValueOfGeneratedFilesEqualsPyarrows() throws Exception {
        String generated = System.getProperty("parquet.generated");
        Path folder = generated == null ? Fixtures.resource("parquet/generated") : Path.of(generated);
        List<String> wrong = new ArrayList<>();
        int columns = 0;
        for (String line : Files.readAllLines(folder.resolve("expected.txt"))) {
            String[] expected = line.split("\t");
            String found;
            try {
                found = digest(folder.resolve(expected[0]), expected[1]);
            } catch (RuntimeException e) {
                found = e.toString();
            }
            if (!found.equals(expected[2])) {
                wrong.add(expected[0] + " " + expected[1] + ": " + found);
            }
            columns++;
        }
        assertTrue(columns > 0);
        assertEquals(List.of(), wrong, columns + " columns");
    }

    private static String digest(Path file, String name) throws Exception {
        try (RecordStore store = RecordStore.open(file); SpanReader reader = new SpanReader(ReadMode.AUTO)) {
            List<String> names = store.columns().stream().map(Column::name).toList();
            // The fields of a struct are columns; a struct as a whole is none, and not compared.
            int column = names.indexOf(name);
            if (column < 0) {
                throw new IOException("no column " + name + " in " + names);
            }
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            Span span = new Span();
            ByteBuffer length = ByteBuffer.allocate(5).order(ByteOrder.LITTLE_ENDIAN);
            for (long row = 0; row < store.size(); row++) {
                if (!store.isPresent(row, column)) {
                    sha.update((byte) 0);
                    continue;
                }
                store.locate(row, column, span);
                Span local = reader.local(span);
                sha.update(length.clear().put((byte) 1).putInt((int) span.byteSize()).array());
                sha.update(bytes(local));
            }
            return HexFormat.of().formatHex(sha.digest());
        }
    }

    private static byte[] bytes(Span span) {
        byte[] bytes = new byte[(int) span.byteSize()];
        MemorySegment.copy(span.segment(), ValueLayout.JAVA_BYTE, span.byteOffset(), bytes, 0, bytes.length);
        return bytes;
    }
}
