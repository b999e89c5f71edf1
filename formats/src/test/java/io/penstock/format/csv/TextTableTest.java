// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.Zstd;
import io.penstock.dataset.RecordFields;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.DecodedFiles;
import io.penstock.format.csv.TableOptions.Declared;
import io.penstock.format.csv.TableOptions.Features;
import io.penstock.format.csv.TableOptions.RaggedRows;
import io.penstock.format.table.IndexChecksum;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies, files and indexes of tables of text; {@link TableFilesTest} has their values. */
class TextTableTest {

    @TempDir
    private Path folder;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private static List<String> names(RecordStore table) {
        return table.columns().stream().map(column -> column.name()).toList();
    }

    private static String text(RecordStore table, long row, int column) {
        Span span = new Span();
        table.locate(row, column, span);
        return new String(span.slice().toArray(ValueLayout.JAVA_BYTE), UTF_8);
    }

    private static List<Float> floats(RecordStore table, long row, int column) {
        Span span = new Span();
        table.locate(row, column, span);
        List<Float> all = new ArrayList<>();
        for (long at = 0; at < span.byteSize(); at += Float.BYTES) {
            all.add(span.segment().get(LittleEndian.F32, span.byteOffset() + at));
        }
        return all;
    }

    private static int integer(RecordStore table, long row, int column) {
        Span span = new Span();
        table.locate(row, column, span);
        return span.segment().get(LittleEndian.I32, span.byteOffset());
    }

    @Test
    void featuresAreOneTensorWithAMaskAndANumberForWhatIsMissing() throws IOException {
        Path file = file("t.csv", "a,b,name\n1,,x\n2.5,NA,y\n3,4,z\n");
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT
                .withFeatures("x", Features.of("a", "b").withMissing(-1).withMask()))) {
            assertEquals(List.of("x", "x.mask", "name"), names(table));
            assertEquals(List.of(1f, -1f), floats(table, 0, 0));
            assertEquals(List.of(3f, 4f), floats(table, 2, 0));
            assertEquals("\1\0", text(table, 1, 1));
            assertEquals("\1\1", text(table, 2, 1));
        }
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT.withFeatures("x", Features.of("a", "b")))) {
            assertEquals(List.of(1f, Float.NaN), floats(table, 0, 0));
        }
        TableOptions none = TableOptions.DEFAULT.withFeatures("x",
                new Features(List.of("a", "b"), DType.F32, Optional.empty(), false));
        try (TextTable table = TextTable.open(file, none)) {
            assertFalse(table.isPresent(0, 0));
            assertEquals(1, RecordFields.of(table).and("x").complete().size(), "rows that lack a number are left out");
        }
    }

    /** A number ends before what follows it: for that a byte behind it is another one while it is read. */
    @Test
    void aColumnThatIsBothANumberAndATextKeepsTheText() throws IOException {
        Path file = file("t.csv", "a,b\n\"5\" ,1\n\"6\"\t,2\n");
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT.withColumn("a", "text")
                .withFeatures("x", Features.of("a", "b")))) {
            assertEquals(List.of(5f, 1f), floats(table, 0, names(table).indexOf("x")));
            assertEquals("5 ", text(table, 0, names(table).indexOf("a")));
            assertEquals("6\t", text(table, 1, names(table).indexOf("a")));
        }
    }

    @Test
    void categoriesHaveTheNumbersInWhichTheyAppearAndKeepThemWhenRowsAreAppended() throws IOException {
        Path file = file("t.csv", "site,n\nb,1\na,2\nb,3\n,4\n");
        TableOptions options = TableOptions.DEFAULT.withColumn("site", "category");
        String before;
        try (TextTable table = TextTable.open(file, options)) {
            assertEquals(List.of("b", "a"), table.categories("site"));
            assertEquals(List.of("b", "a"), table.classes());
            assertEquals(0, integer(table, 2, 0));
            assertFalse(table.isPresent(3, 0));
            before = table.fingerprint();
            assertThrows(IllegalArgumentException.class, () -> table.categories("n"));
        }
        Files.writeString(file, "c,5\na,6\n", StandardOpenOption.APPEND);
        try (TextTable table = TextTable.open(file, options)) {
            assertEquals(List.of("b", "a", "c"), table.categories("site"));
            assertEquals(1, integer(table, 5, 0));
            assertNotEquals(before, table.fingerprint());
        }
    }

    @Test
    void aCategoryThatIsNoUtf8IsABadSample() throws IOException {
        Path file = folder.resolve("t.csv");
        Files.write(file, new byte[] {'k', ',', 'n', '\n', 'a', ',', '1', '\n', (byte) 0xC0, ',', '2', '\n'});
        for (TableOptions options : List.of(TableOptions.DEFAULT.withColumn("k", "category"), TableOptions.DEFAULT
                .withColumn("k", new Declared("category", Optional.of(-1.0))))) {
            try (TextTable table = TextTable.open(file, options)) {
                assertEquals(List.of("a"), table.categories("k"));
                MalformedStoreException bad = assertThrows(MalformedStoreException.class,
                        () -> table.locate(1, 0, new Span()));
                assertEquals(file + ": line 3: column 'k' has the value '\uFFFD', expected text in UTF-8",
                        bad.getMessage());
            }
        }
    }

    @Test
    void raggedRowsAreRefusedWithTheirLinePaddedOrLeftOut() throws IOException {
        Path file = file("t.csv", "a,b\n1,2\n\n3\n4,5,6\n7,8\n");
        MalformedStoreException refused = assertThrows(MalformedStoreException.class,
                () -> TextTable.open(file, TableOptions.DEFAULT));
        assertTrue(refused.getMessage().startsWith(file + ": line 4: 1 field in a row of 2 columns"),
                refused.getMessage());
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT.withRagged(RaggedRows.SKIP))) {
            assertEquals(2, table.size());
            assertTrue(table.isPresent(1, 1));
        }
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT.withRagged(RaggedRows.PAD))) {
            assertEquals(4, table.size());
            assertFalse(table.isPresent(1, 1));
            assertTrue(table.isPresent(2, 1));
        }
    }

    private static List<Long> integers(RecordStore table, int column) {
        Span span = new Span();
        List<Long> all = new ArrayList<>();
        for (long row = 0; row < table.size(); row++) {
            if (table.isPresent(row, column)) {
                table.locate(row, column, span);
                all.add(span.segment().get(LittleEndian.I64, span.byteOffset()));
            } else {
                all.add(null);
            }
        }
        return all;
    }

    @Test
    void aRowThatIsLeftOutChangesNoOtherRowNoTypeAndNoCategory() throws IOException {
        TableOptions skip = TableOptions.DEFAULT.withRagged(RaggedRows.SKIP);
        try (TextTable table = TextTable.open(file("a.csv", "a,b\n1,2\n3,\n4\n,9,9,9\n5,6\n"), skip)) {
            assertEquals(List.of(1L, 3L, 5L), integers(table, 0));
            assertEquals(Arrays.asList(2L, null, 6L), integers(table, 1));
        }
        try (TextTable table = TextTable.open(file("b.csv", "a,b\n1,2\nx,9,9\n3,4\n"),
                skip.withColumn("a", "f32"))) {
            assertEquals(List.of(1f), floats(table, 0, 0));
            assertEquals(List.of(3f), floats(table, 1, 0));
        }
        Path labels = file("c.csv", "label,v\ncat,1\nGHOST,2,3\ndog,4\n\"\"\"G\"\n\"\"\"d\",5\n");
        try (TextTable table = TextTable.open(labels, skip.withColumn("label", "category"))) {
            assertEquals(List.of("cat", "dog", "\"d"), table.categories("label"));
            assertEquals(1, integer(table, 1, 0));
            assertEquals(2, integer(table, 2, 0));
        }
        try (TextTable table = TextTable.open(file("d.csv", "v,w\n1,2\nTOTAL\n3,4\n"), skip)) {
            assertEquals(List.of("v: i64[]", "w: i64[]"),
                    table.columns().stream().map(column -> column.spec().toString()).toList());
            assertEquals(List.of(1L, 3L), integers(table, 0));
        }
    }

    @Test
    void aTableWithoutItsRaggedRowsIsThatOfAFileWithoutThem() throws IOException {
        List<String> fields = List.of("", "NA", "1", "-7", "2.5", "true", "2024-01-02", "2024-01-02 03:04", "cat",
                "dog", "\"d\"\"og\"", "\"x\ny\"");
        TableOptions declared = TableOptions.DEFAULT.withColumn("a", "category").withColumn("b", "f32")
                .withFeatures("x", Features.of("b", "c").withMask());
        long seed = 20261202;
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            StringBuilder all = new StringBuilder("a,b,c\n");
            StringBuilder whole = new StringBuilder("a,b,c\n");
            int choices = 1 + random.nextInt(fields.size());
            for (int row = 0; row < 12; row++) {
                int count = random.nextInt(3) > 0 ? 3 : 1 + random.nextInt(5);
                String text = IntStream.range(0, count).mapToObj(_ -> fields.get(random.nextInt(choices)))
                        .collect(Collectors.joining(",", count == 1 ? "one" : "", "\n"));
                all.append(text);
                whole.append(count == 3 ? text : "");
            }
            whole.append("1,2,3\n");
            all.append("1,2,3\n");
            for (TableOptions options : List.of(TableOptions.DEFAULT, declared)) {
                String expected = contents(file("whole.csv", whole.toString()), options, 1 << 10);
                String found = contents(file("all.csv", all.toString()), options.withRagged(RaggedRows.SKIP),
                        1 + random.nextInt(80));
                assertEquals(expected, found, () -> "seed " + seed + "\n" + all);
            }
        }
    }

    private static String contents(Path file, TableOptions options, int blockBytes) throws IOException {
        try (TextTable table = TextTable.open(Location.of(file), TextTable.Kind.CSV, options, null,
                DecodeLimit.DEFAULT, blockBytes)) {
            StringBuilder all = new StringBuilder(table.columns().toString());
            options.columns().forEach((name, type) -> all.append(type.type().equals("category")
                    ? table.categories(name) : ""));
            Span span = new Span();
            for (long row = 0; row < table.size(); row++) {
                for (int c = 0; c < table.columns().size(); c++) {
                    if (!table.isPresent(row, c)) {
                        all.append("null");
                        continue;
                    }
                    try {
                        table.locate(row, c, span);
                        all.append(Arrays.toString(span.slice().toArray(ValueLayout.JAVA_BYTE)));
                    } catch (MalformedStoreException _) {
                        all.append("bad");
                    }
                }
                all.append('\n');
            }
            return all.toString();
        }
    }

    @Test
    void aTimeThatNanosecondsCannotSayIsABadSampleThatNamesItsLine() throws IOException {
        for (String far : List.of("9999-12-31 00:00:00", "1492-10-12")) {
            Path file = file("t.csv", "t,x\n2024-01-01 00:00:00.123456789,1\n" + far + ",2\n2024-01-02,3\n");
            try (TextTable table = TextTable.open(file, TableOptions.DEFAULT)) {
                assertEquals(List.of(1L, 2L, 3L), integers(table, 1));
                Span span = new Span();
                table.locate(0, 0, span);
                assertEquals(1_704_067_200_123_456_789L, span.segment().get(LittleEndian.I64, span.byteOffset()));
                table.locate(2, 0, span);
                assertEquals(1_704_153_600_000_000_000L, span.segment().get(LittleEndian.I64, span.byteOffset()));
                MalformedStoreException bad = assertThrows(MalformedStoreException.class,
                        () -> table.locate(1, 0, new Span()));
                assertEquals(file + ": line 3: column 't' has the value '" + far + "', expected timestamp[ns]",
                        bad.getMessage());
            }
        }
    }

    /** The values are those of pandas ({@code na_values=["-999"]}) and pyarrow ({@code null_values=["", "-999"]}). */
    @Test
    void aMissingWordThatIsANumberIsMissing() throws IOException {
        Path file = file("t.csv", "x,y\n1,2\n-999,3\n4,-999\n\"-999\",-9990\n-999.0,5\n");
        file("t.csv.table.json", "{\"missing_words\": [\"\", \"-999\"]}");
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(List.of("x: f64[]", "y: i64[]"),
                    table.columns().stream().map(column -> column.spec().toString()).toList());
            assertEquals(Arrays.asList(2L, 3L, null, -9990L, 5L), integers(table, 1));
            assertEquals(List.of(true, false, true, false, true),
                    IntStream.range(0, 5).mapToObj(row -> table.isPresent(row, 0)).toList());
        }
        TableOptions options = TableOptions.DEFAULT.withMissingWords("", "-999")
                .withFeatures("f", Features.of("x", "y").withMissing(0).withMask());
        try (TextTable table = TextTable.open(file, options)) {
            assertEquals(List.of(0f, 3f), floats(table, 1, 0));
            assertEquals("\0\1", text(table, 1, 1));
            assertEquals(List.of(4f, 0f), floats(table, 2, 0));
        }
    }

    @Test
    void aHashOfNoTextIsMissingAlsoBehindTexts() throws IOException {
        try (TextTable table = TextTable.open(file("t.csv", "k,n\nabc,1\n,2\n"),
                TableOptions.DEFAULT.withColumn("k", "hash:10"))) {
            assertTrue(table.isPresent(0, 0));
            assertFalse(table.isPresent(1, 0));
            assertEquals(List.of(1L, 2L), integers(table, 1));
        }
    }

    @Test
    void aBrokenLineIsABadSampleAlsoWhereMissingHashesAreANumber() throws IOException {
        Path file = file("t.jsonl", "{\"k\": \"abc\"}\n{\"k\": \n{}\n");
        file("t.jsonl.table.json", "{\"columns\": {\"k\": {\"type\": \"hash:10\", \"missing\": -1}}}");
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(-1, integer(table, 2, 0));
            MalformedStoreException bad = assertThrows(MalformedStoreException.class,
                    () -> table.locate(1, 0, new Span()));
            assertTrue(bad.getMessage().startsWith(file + ": line 2: "), bad.getMessage());
        }
    }

    @Test
    void aValueThatIsNotOfTheDeclaredTypeIsABadSampleThatNamesItsLine() throws IOException {
        Path file = file("t.csv", "a,b\n1,x\n\"two\nlines\",y\n300,z\n");
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT.withColumn("a", "i32"))) {
            assertEquals(300, integer(table, 2, 0));
            MalformedStoreException bad = assertThrows(MalformedStoreException.class,
                    () -> table.locate(1, 0, new Span()));
            assertEquals(file + ": line 3: column 'a' has the value 'two lines', expected i32", bad.getMessage());
            assertEquals("y", text(table, 1, 1));
            assertEquals(3, RecordFields.of(table).and("a").complete().size(), "it is not missing");
        }
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT.withFeatures("x", Features.of("b", "a")))) {
            MalformedStoreException bad = assertThrows(MalformedStoreException.class,
                    () -> table.locate(1, 0, new Span()));
            assertEquals(file + ": line 3: column 'x' has the values 'two lines', 'y', expected f32", bad.getMessage());
        }
        try (TextTable table = TextTable.open(file("h.csv", "a\n1\n\nNA\n"), TableOptions.DEFAULT)) {
            MalformedStoreException bad = assertThrows(MalformedStoreException.class,
                    () -> table.locate(1, 0, new Span()));
            assertTrue(bad.getMessage().contains("h.csv: line 4: column 'a' has no value"), bad.getMessage());
        }
    }

    @Test
    void missingValuesOfAColumnMayBeANumber() throws IOException {
        Path file = file("t.csv", "a,b\nNA,NA\n");
        try (TextTable table = TextTable.open(file, TableOptions.DEFAULT
                .withColumn("a", new Declared("f32", Optional.of(Double.NaN)))
                .withColumn("b", new Declared("i32", Optional.of(-1.0))))) {
            assertEquals(List.of(Float.NaN), floats(table, 0, 0));
            assertEquals(-1, integer(table, 0, 1));
        }
    }

    @Test
    void aQuoteThatDoesNotEndIsNamed() throws IOException {
        Path file = file("t.csv", "a,b\n1,\"x\n2,y\n");
        MalformedStoreException bad = assertThrows(MalformedStoreException.class, () -> Store.open(file));
        assertTrue(bad.getMessage().contains("t.csv: line 2: a field in quotes that do not end"), bad.getMessage());
    }

    @Test
    void filesOfAFolderAreOneTable() throws IOException {
        file("1.csv", "a,b\n1,x\n");
        file("2.csv", "b,a,c\ny,2.5,z\n");
        try (RecordStore table = RecordStore.open(folder)) {
            assertEquals(2, table.size());
            assertEquals(List.of("a: f64[]", "b: u8[*]", "c: u8[*]"),
                    table.columns().stream().map(column -> column.spec().toString()).toList());
            assertEquals("y", text(table, 1, 1));
            assertFalse(table.isPresent(0, 2));
            assertEquals("z", text(table, 1, 2));
        }
        Files.delete(folder.resolve("2.csv"));
        file("2.csv", "q\n1\n");
        assertThrows(MalformedStoreException.class, () -> Store.open(folder));
    }

    @Test
    void namesOfFoldersAreColumnsAndOtherFilesMakeAFolderNoTable() throws IOException {
        for (String language : List.of("de", "en")) {
            Path part = Files.createDirectories(folder.resolve("t/lang=" + language));
            Files.writeString(part.resolve("1.csv"), "a\n" + language.length() + "\n");
        }
        try (RecordStore table = RecordStore.open(folder.resolve("t"))) {
            assertEquals(List.of("a", "lang"), names(table));
            assertEquals("en", text(table, 1, 1));
        }
        file("labels.csv", "a\n1\n");
        file("picture.bin", "x");
        assertThrows(MalformedStoreException.class, () -> Store.open(folder));
    }

    @Test
    void packedFilesHaveTheSameRows() throws IOException {
        StringBuilder text = new StringBuilder("n,t\n");
        for (int i = 0; i < 100_000; i++) {
            text.append(i).append(",\"row ").append(i).append("\"\n");
        }
        byte[] plain = text.toString().getBytes(UTF_8);
        ByteArrayOutputStream gzip = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(gzip)) {
            out.write(plain);
        }
        Path gz = Files.write(folder.resolve("t.csv.gz"), gzip.toByteArray());
        Path zst = Files.write(folder.resolve("t.csv.zst"), Zstd.compress(plain));
        for (Path file : List.of(gz, zst, gz, zst)) {
            try (RecordStore table = RecordStore.open(file)) {
                assertEquals(100_000, table.size());
                assertEquals("row 77777", text(table, 77_777, 1));
                assertEquals("row 0", text(table, 0, 1));
            }
        }
        assertTrue(Files.exists(folder.resolve("t.csv.gz.penstock-rows")), "an index is kept beside a packed file");
    }

    private static byte[] gzip(int rows, char letter) throws IOException {
        StringBuilder text = new StringBuilder("n,t\n");
        for (int i = 0; i < rows; i++) {
            text.append(1_000_000 + i).append(',').append(letter).append(i * 0x9E3779B97F4A7C15L).append('\n');
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.toString().getBytes(UTF_8));
        }
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPackedFileThatIsReplacedBeforeItIsDecodedIsNamed(boolean inPlace) throws IOException {
        Path file = Files.write(folder.resolve("x.csv.gz"), gzip(40_000, 'A'));
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
        RecordStore.open(file).close();
        assertTrue(Files.exists(folder.resolve("x.csv.gz.penstock-rows")));
        try (RecordStore table = RecordStore.open(file)) {
            Path other = inPlace ? file : folder.resolve("new");
            Files.write(other, gzip(40_000, 'B'));
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            long before = decodedCopies();
            for (long row : new long[] {0, 39_999}) {
                Exception changed = assertThrows(Exception.class, () -> text(table, row, 1));
                assertTrue(changed.getMessage().startsWith(file + ": found " + Files.size(file) + " bytes of version "),
                        changed.toString());
            }
            assertEquals(before, decodedCopies());
        }
    }

    /** The copies that this process has mapped. */
    private static long decodedCopies() throws IOException {
        Path maps = Path.of("/proc/self/maps");
        return !Files.exists(maps) ? 0 : Files.readAllLines(maps).stream()
                .filter(line -> line.contains("penstock-decoded-")).count();
    }

    @Test
    void aPackedFileThatIsReplacedWhileItIsDecodedIsNamedAndItsCopyIsClosed() throws IOException {
        Path file = Files.write(folder.resolve("x.csv.gz"), gzip(1000, 'A'));
        byte[] other = gzip(1000, 'B');
        DecodedFiles files = new DecodedFiles(Location.of(file).source());
        try (TextFile text = TextFile.open(new Location(files, file.toString()), DecodeLimit.DEFAULT, null)) {
            files.whenRead = () -> {
                Files.write(folder.resolve("new"), other);
                Files.move(folder.resolve("new"), file, StandardCopyOption.REPLACE_EXISTING);
            };
            long before = decodedCopies();
            MalformedStoreException changed = assertThrows(MalformedStoreException.class, text::byteSize);
            assertTrue(changed.getMessage().contains("x.csv.gz: found "), changed.getMessage());
            assertEquals(before, decodedCopies());
            assertEquals(2, files.looks.get(), "a look before a file is decoded, and one after");
        }
    }

    @Test
    void aDecodedCopyIsClosedWhateverEndsIt() throws IOException {
        Path file = Files.write(folder.resolve("x.csv.gz"), gzip(1000, 'A'));
        DecodedFiles files = new DecodedFiles(Location.of(file).source());
        try (TextFile text = TextFile.open(new Location(files, file.toString()), DecodeLimit.DEFAULT, null)) {
            files.whenRead = () -> {
                throw new StackOverflowError("a test");
            };
            long before = decodedCopies();
            assertThrows(StackOverflowError.class, text::byteSize);
            assertEquals(before, decodedCopies());
        }
    }

    @Test
    void anIndexOfAnotherVersionIsBuiltAgain() throws IOException {
        Path file = large(100_000);
        RecordStore.open(file).close();
        Path index = folder.resolve("large.csv.penstock-rows");
        byte[] kept = Files.readAllBytes(index);
        byte[] older = kept.clone();
        older[8] = 1;
        MemorySegment.ofArray(older).set(LittleEndian.I32, 24, IndexChecksum.of(older, 24));
        Files.write(index, older);
        RecordStore.open(file).close();
        assertArrayEquals(kept, Files.readAllBytes(index));
    }

    private Path large(int rows) throws IOException {
        StringBuilder text = new StringBuilder("n,t\n");
        for (int i = 0; i < rows; i++) {
            text.append(i).append(",a text of some length, so that there are many blocks\n".replace(", ", "; "));
        }
        return file("large.csv", text.toString());
    }

    @Test
    void anIndexIsKeptAndBuiltAgainWhenTheFileChanges() throws IOException {
        Path file = large(100_000);
        Path index = folder.resolve("large.csv.penstock-rows");
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(100_000, table.size());
        }
        byte[] kept = Files.readAllBytes(index);
        FileTime time = Files.getLastModifiedTime(index);
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals("a text of some length; so that there are many blocks", text(table, 99_999, 1));
        }
        assertEquals(time, Files.getLastModifiedTime(index), "an index that fits is not written again");
        for (int at = 0; at < kept.length; at += 97) {
            byte[] damaged = kept.clone();
            damaged[at] ^= 4;
            Files.write(index, damaged);
            try (RecordStore table = RecordStore.open(file)) {
                assertEquals(100_000, table.size(), "damaged at byte " + at);
            }
            if (at > 600) {
                at += kept.length / 8;
            }
        }
        Files.writeString(file, "7,more\n", StandardOpenOption.APPEND);
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(100_001, table.size());
            assertEquals("more", text(table, 100_000, 1));
        }
        Files.writeString(file, "n,t\n1,x\n");
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(1, table.size());
        }
    }

    @Test
    void aFileThatChangesWhileItIsOpenIsNamed() throws IOException {
        Path file = large(100_000);
        try (RecordStore table = RecordStore.open(file)) {
            text(table, 0, 1);
            Files.writeString(file, "n,t\n1,x\n");
            Exception changed = assertThrows(Exception.class, () -> text(table, 99_999, 1));
            assertTrue(changed.getMessage().contains("large.csv"), changed.toString());
        }
    }

    @Test
    void jsonLinesAreRecordsAndABrokenOneIsABadSampleThatNamesItsLine() throws IOException {
        Path file = file("t.jsonl", "{\"a\": 1}\n\n   \n{\"a\": \n{\"a\": \"ä\"} \r\n[1]\n{\"a\": 3}");
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(5, table.size());
            assertEquals("{\"a\": 1}", text(table, 0, 0));
            assertEquals("{\"a\": \"ä\"}", text(table, 2, 0));
            assertEquals("{\"a\": 3}", text(table, 4, 0));
            PenstockException bad = assertThrows(PenstockException.class, () -> table.locate(1, 0, new Span()));
            assertTrue(bad.getMessage().contains("t.jsonl: line 4: at byte 6 of the line: found the end"),
                    bad.getMessage());
            PenstockException array = assertThrows(PenstockException.class, () -> table.locate(3, 0, new Span()));
            assertTrue(array.getMessage().contains("line 6: found an array, expected a JSON object"),
                    array.getMessage());
        }
    }

    @Test
    void fieldsOfJsonLinesAreColumns() throws IOException {
        Path file = file("t.ndjson", "{\"text\": \"a\\nb\", \"label\": 2, \"x\": 1.5, \"y\": 3}\n"
                + "{\"label\": null, \"x\": 1}\n");
        file("t.ndjson.table.json", "{\"columns\": {\"text\": \"text\", \"label\": \"i32\"},"
                + " \"features\": {\"xy\": {\"columns\": [\"x\", \"y\"], \"missing\": 0}}}");
        try (RecordStore table = RecordStore.open(file)) {
            assertEquals(List.of("xy", "label", "text"), names(table));
            assertEquals("a\nb", text(table, 0, 2));
            assertEquals(2, integer(table, 0, 1));
            assertEquals(List.of(1.5f, 3f), floats(table, 0, 0));
            assertEquals(List.of(1f, 0f), floats(table, 1, 0));
            assertFalse(table.isPresent(1, 1));
        }
    }

    @Test
    void aDescriptionThatIsWrongIsNamed() throws IOException {
        Path file = file("t.csv", "a\n1\n");
        for (String wrong : List.of("{\"delimitr\": \",\"}", "{\"columns\": {\"b\": \"f32\"}}", "{", "[]",
                "{\"columns\": {\"a\": \"f33\"}}", "{\"delimiter\": \".\"}",
                "{\"features\": {\"x\": {\"columns\": [\"z\"]}}}", "{\"features\": {\"x\": {\"columns\": []}}}")) {
            file("t.csv.table.json", wrong);
            MalformedStoreException bad = assertThrows(MalformedStoreException.class, () -> Store.open(file), wrong);
            assertTrue(bad.getMessage().contains("t.csv.table.json"), bad.getMessage());
        }
        file("t.csv.table.json", "{\"columns\": {\"a\": {\"typ\": \"f32\"}}}");
        MalformedStoreException bad = assertThrows(MalformedStoreException.class, () -> Store.open(file));
        assertTrue(bad.getMessage().endsWith("found 'typ', expected type, missing"), bad.getMessage());
    }

    /** A mapping per file would be more than the OS gives to 100,000 files. */
    @Test
    void ofManyFilesFewAreOpen() throws IOException {
        int count = 2100;
        Path lines = Files.createDirectory(folder.resolve("lines"));
        Path fields = Files.createDirectory(folder.resolve("fields"));
        for (int i = 0; i < count; i++) {
            Files.writeString(lines.resolve("%05d.jsonl".formatted(i)), "{\"n\":" + i + "}\n");
            Files.writeString(fields.resolve("%05d.csv".formatted(i)), "n,text\n" + i + ",text " + i + "\n");
        }
        try (RecordStore all = RecordStore.open(lines); RecordStore table = RecordStore.open(fields)) {
            assertEquals(count, all.size());
            assertEquals(count, table.size());
            String before = table.fingerprint();
            for (int i = 0; i < count; i++) {
                int row = i * 1009 % count;
                assertEquals("{\"n\":" + row + "}", text(all, row, 0));
                assertEquals("text " + row, text(table, row, 1));
            }
            assertEquals(before, table.fingerprint());
            assertTrue(mapped(lines) <= 512, () -> mapped(lines) + " mappings");
            assertTrue(mapped(fields) <= 512, () -> mapped(fields) + " mappings");
        }
        assertEquals(0, mapped(lines));
        assertEquals(0, mapped(fields));
    }

    @Test
    void ofManyFilesOneThatIsReplacedIsAnError() throws IOException {
        int count = 2100;
        for (int i = 0; i < count; i++) {
            file("%05d.csv".formatted(i), "n\n" + i + "\n");
        }
        try (RecordStore table = RecordStore.open(folder)) {
            Files.writeString(folder.resolve("new"), "n\n7\n");
            Files.move(folder.resolve("new"), folder.resolve("00003.csv"), StandardCopyOption.REPLACE_EXISTING);
            PenstockException e = assertThrows(PenstockException.class, () -> table.locate(3, 0, new Span()));
            assertTrue(e.getMessage().contains("00003.csv"), e.getMessage());
            table.locate(4, 0, new Span());
        }
    }

    private static long mapped(Path of) {
        Path maps = Path.of("/proc/self/maps");
        try {
            return !Files.exists(maps) ? 0 : Files.readAllLines(maps).stream().filter(line -> line.contains(of + "/"))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void conditionsSayDatesAndTimesAsText() throws IOException {
        Path csv = file("a.csv", """
                day,at,fine
                2024-01-31,2024-01-31T12:00Z,2024-01-31 12:00:00.123456789
                2024-02-03,2024-02-03T12:00Z,2024-02-03 12:00
                """);
        try (RecordStore table = RecordStore.open(csv)) {
            assertArrayEquals(new long[] {1}, table.rowsWhere("day >= '2024-02-01'"));
            assertArrayEquals(new long[] {0}, table.rowsWhere("at = '2024-01-31 13:00:00+01:00'"));
            assertArrayEquals(new long[] {0}, table.rowsWhere("fine = '2024-01-31 12:00:00.123456789'"));
        }
        TableOptions options = TableOptions.DEFAULT.withColumn("at", "timestamp[s]");
        Path lines = file("a.jsonl", "{\"at\": \"2024-01-31 12:00:01\"}\n{\"at\": null}\n");
        try (TextTable table = TextTable.open(lines, options)) {
            assertArrayEquals(new long[] {0}, table.rowsWhere("at > '2024-01-31 12:00:00'"));
        }
    }
}
