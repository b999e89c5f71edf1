// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static io.penstock.format.parquet.ParquetBytes.ints;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.Inspection;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Folders in Hive's layout. The rows, their order and the types of the keys are those that
 * {@code pyarrow.dataset.dataset(folder, partitioning="hive").to_table()} has for the same folders.
 */
class PartitionsTest {

    @TempDir
    private Path folder;

    /** Writes a file of one row in the column {@code x}. */
    private void row(String path, int value) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        new ParquetBytes(1, 1).page(1, Encoding.PLAIN, ints(value)).write(file);
    }

    private void other(String path) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "no table");
    }

    private Map<String, List<Object>> rows() throws IOException {
        try (RecordStore store = RecordStore.open(folder)) {
            return Rows.of(store);
        }
    }

    @Test
    void aKeyIsAColumnOfTextOrOfIntegersIfAllItsValuesAre() throws IOException {
        row("lang=en/year=2024/part-0.parquet", 1);
        row("lang=de/year=007/part-1.parquet", 2);
        row("lang=de/year=007/part-0.parquet", 3);
        row("lang=12/year=-3/part-0.parquet", 4);
        assertEquals(Map.of("x", List.of(4L, 3L, 2L, 1L), "lang", List.of("12", "de", "de", "en"),
                "year", List.of(-3L, 7L, 7L, 2024L)), rows());
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals("[x: i32[] numbers, lang: u8[*] text, year: i32[] numbers]", store.columns().toString());
        }
        assertTrue(Inspection.of(folder, Inspection.Depth.CONTENT).toMap().toString().contains("name=lang"));
    }

    @Test
    void integersThatNeedMoreThan32BitsAreText() throws IOException {
        row("id=3000000000/a.parquet", 1);
        row("id=5/a.parquet", 2);
        assertEquals(Map.of("x", List.of(1L, 2L), "id", List.of("3000000000", "5")), rows());
    }

    @Test
    void valuesAndKeysArePercentEncoded() throws IOException {
        row("a%20b=x%2Fy%3D/a.parquet", 1);
        row("a%20b=50%/a.parquet", 2);
        row("a%20b=p+q/a.parquet", 3);
        row("a%20b=%C3%A4=b/a.parquet", 4);
        row("a%20b=/a.parquet", 5);
        assertEquals(Map.of("x", List.of(4L, 5L, 2L, 3L, 1L), "a b", List.of("ä=b", "", "50%", "p+q", "x/y=")), rows());
    }

    @Test
    void hivesOwnNameOfNullIsNullAndSoIsAKeyThatAFileIsNotBelow() throws IOException {
        row("y=1/m=2/a.parquet", 1);
        row("y=1/a.parquet", 2);
        row("y=__HIVE_DEFAULT_PARTITION__/m=3/a.parquet", 3);
        row("z.parquet", 4);
        assertEquals(Map.of("x", List.of(2L, 1L, 3L, 4L), "y", Arrays.asList(1L, 1L, null, null),
                "m", Arrays.asList(null, 2L, 3L, null)), rows());
        try (RecordStore store = RecordStore.open(folder)) {
            assertFalse(store.isPresent(3, 1));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(3, 1, new Span()))
                    .getMessage();
            assertTrue(message.contains("z.parquet: column 'y' is null: no folder has its value"), message);
        }
    }

    @Test
    void whatWritersOfTablesPutBesideTheirFilesIsLeftOut() throws IOException {
        row("lang=de/part-0.parquet", 1);
        row("lang=de/_temporary/0/part-9.parquet", 9);
        row("lang=de/.part-1.parquet", 9);
        row("lang=de/_part-1.parquet", 9);
        row(".lang=fr/part-0.parquet", 9);
        row("_tmp/lang=fr/part-0.parquet", 9);
        for (String path : List.of("_SUCCESS", "_metadata", "_common_metadata", "lang=de/.part-0.parquet.crc",
                "lang=de/_SUCCESS", "README.md")) {
            other(path);
        }
        assertEquals(Map.of("x", List.of(1L), "lang", List.of("de")), rows());
    }

    @Test
    void hiddenFilesOfAFlatFolderAreLeftOutToo() throws IOException {
        row("part-0.parquet", 1);
        other("_part-1.parquet");
        other("._part-0.parquet");
        assertEquals(Map.of("x", List.of(1L)), rows());
    }

    @Test
    void aColumnThatTheFilesStoreIsReadFromThem() throws IOException {
        row("x=7/a.parquet", 5);
        assertEquals(Map.of("x", List.of(5L)), rows());
    }

    @Test
    void anotherValueIsAnotherFingerprint() throws IOException {
        row("lang=de/a.parquet", 1);
        String german;
        try (RecordStore store = RecordStore.open(folder)) {
            german = store.fingerprint();
        }
        Files.move(folder.resolve("lang=de"), folder.resolve("lang=nl"));
        try (RecordStore store = RecordStore.open(folder)) {
            assertNotEquals(german, store.fingerprint());
        }
    }

    @Test
    void aFolderThatIsNoPartitionIsRefusedBesideOnesThatAre() throws IOException {
        row("lang=de/a.parquet", 1);
        row("test/a.parquet", 2);
        assertTrue(assertThrows(MalformedStoreException.class, this::rows).getMessage()
                .contains("a.parquet: a file of a partitioned folder in 'test', which is no partition"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> RecordStore.open(Location.of(folder),
                OpenOptions.DEFAULT.withFormat("parquet").withMember("de"))).getMessage()
                .contains("a folder of partitions is one table, found 'de'"));
    }
}
