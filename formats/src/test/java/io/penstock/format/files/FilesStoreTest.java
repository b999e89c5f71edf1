// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.store.integrity.Verification;
import io.penstock.store.integrity.Verification.CheckedFile;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A folder's files are records in the order of their paths, and its folders classes in that of their names. */
class FilesStoreTest {

    @TempDir
    Path folder;

    private void file(String path, String content) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private static byte[] value(RecordStore store, long record) {
        Span span = new Span();
        store.locate(record, 0, span);
        return span.slice().toArray(ValueLayout.JAVA_BYTE);
    }

    private static long classOf(RecordStore store, long record) {
        Span span = new Span();
        store.locate(record, 1, span);
        assertEquals(Long.BYTES, span.byteSize());
        return span.segment().get(LittleEndian.I64, span.byteOffset());
    }

    private static List<String> names(RecordStore store) {
        return IntStream.range(0, (int) store.size()).mapToObj(store::name).toList();
    }

    /** torchvision numbers the sorted names of folders, with and without files; paths sort otherwise than names. */
    @Test
    void foldersAreClassesInTheOrderOfTheirNames() throws IOException {
        for (String path : List.of("a/1.jpg", "a-b/2.JPEG", "a b/3.jpg", "Z/4.jpeg", "a/sub/5.png", "é/6.jpg",
                "a0/7.jpg", ".hidden/8.jpg", "a/.hidden.jpg")) {
            file(path, path);
        }
        Files.createDirectories(folder.resolve("a!"));
        Files.createDirectories(folder.resolve("zz"));
        try (FilesStore store = (FilesStore) RecordStore.open(folder)) {
            List<String> sorted = List.of("Z", "a", "a b", "a!", "a-b", "a0", "zz", "é");
            assertEquals(sorted, store.classes());
            assertEquals(List.of("Z/4.jpeg", "a b/3.jpg", "a-b/2.JPEG", "a/1.jpg", "a/sub/5.png", "a0/7.jpg",
                    "é/6.jpg"),
                    names(store));
            assertEquals(List.of("image", "class"), store.columns().stream().map(Column::name).toList());
            assertEquals("jpg", store.columns().getFirst().encoding());
            for (int i = 0; i < store.size(); i++) {
                String name = store.name(i);
                assertEquals(name, new String(value(store, i), StandardCharsets.UTF_8));
                assertEquals(sorted.indexOf(name.substring(0, name.indexOf('/'))), classOf(store, i), name);
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.name(7));
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, 2, new Span()));
        }
        assertEquals(8, Inspection.of(folder, Depth.CONTENT).toMap().get("class_count"));
    }

    @Test
    void filesRightInTheFolderMeanThatFoldersAreNoClasses() throws IOException {
        file("b.txt", "b");
        file("a/c.txt", "");
        file("a.txt", "a");
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(List.of("a.txt", "a/c.txt", "b.txt"), names(store));
            assertEquals(1, store.columns().size());
            assertEquals("txt", store.columns().getFirst().encoding());
            assertEquals("file", store.columns().getFirst().name());
            assertArrayEquals(new byte[0], value(store, 1));
        }
    }

    @Test
    void filesOfManySamplesAreNoSamplesUnlessTheFormatIsNamed() throws IOException {
        for (String name : List.of("train/a.parquet", "train/a.arrow", "a/b/c.tar", "a/x.jsonl.gz", "x.idx",
                "y/t.csv", "y/data.mdb", "y/weights.H5")) {
            Path tree = Files.createDirectory(folder.resolve("tree"));
            Files.createDirectories(tree.resolve(name).getParent());
            Files.writeString(tree.resolve(name), "content");
            Files.writeString(tree.resolve("README.md"), "about");
            String message = assertThrows(MalformedStoreException.class, () -> Store.open(tree)).getMessage();
            assertTrue(message.contains("tree: a folder with files ") && message.contains(", such as "
                    + tree.resolve(name) + ", expected files of one sample each"), message);
            try (RecordStore store = RecordStore.open(tree, OpenOptions.DEFAULT.withFormat("files"))) {
                assertEquals(2, store.size());
            }
            try (Stream<Path> all = Files.walk(tree)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    @Test
    void namesAreInTheOrderOfTheirBytes() throws IOException {
        SplittableRandom random = new SplittableRandom(20261121);
        String letters = "ab-/.Zé\uD83D\uDE00\uFF5E";
        for (int i = 0; i < 300; i++) {
            StringBuilder path = new StringBuilder("x");
            int[] points = letters.codePoints().toArray();
            for (int n = random.nextInt(6); n >= 0; n--) {
                path.appendCodePoint(points[random.nextInt(points.length)]).append('y');
            }
            Path file = folder.resolve(path + ".f");
            try {
                Files.createDirectories(file.getParent());
                Files.writeString(file, "x");
            } catch (IOException _) {
                // a file of that name is where a folder would be
            }
        }
        try (RecordStore store = RecordStore.open(folder)) {
            List<String> sorted = new ArrayList<>(names(store));
            assertTrue(sorted.size() > 200);
            sorted.sort((a, b) -> Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8),
                    b.getBytes(StandardCharsets.UTF_8)));
            assertEquals(sorted, names(store));
        }
    }

    private static final byte[] JPEG = {(byte) 0xFF, (byte) 0xD8, 1, 2};

    private void image(String path) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, JPEG);
    }

    private static List<Long> classesOf(RecordStore store) {
        return IntStream.range(0, (int) store.size()).mapToObj(i -> classOf(store, i)).toList();
    }

    /** Expected values: {@code samples} of {@code ImageFolder} of torchvision 0.28. */
    @Test
    void classesAndImagesThatAreLinksAreReadAsInImageFolder(@TempDir Path elsewhere) throws IOException {
        image("a/0.jpg");
        image("b/0.jpg");
        Files.write(elsewhere.resolve("1.jpg"), JPEG);
        Files.write(elsewhere.resolve("blob"), JPEG);
        Files.createSymbolicLink(folder.resolve("aa"), elsewhere);
        Files.createSymbolicLink(folder.resolve("again"), Path.of("b"));
        Files.createSymbolicLink(folder.resolve("b/9.jpg"), elsewhere.resolve("blob"));
        try (FilesStore store = (FilesStore) RecordStore.open(folder)) {
            assertEquals(List.of("a", "aa", "again", "b"), store.classes());
            assertEquals(List.of("a/0.jpg", "aa/1.jpg", "again/0.jpg", "again/9.jpg", "b/0.jpg", "b/9.jpg"),
                    names(store));
            assertEquals(List.of(0L, 1L, 2L, 2L, 3L, 3L), classesOf(store));
            for (int i = 0; i < store.size(); i++) {
                assertArrayEquals(JPEG, value(store, i));
            }
        }
    }

    @Test
    void aFolderWhoseClassesAreAllLinksIsOneOfImages(@TempDir Path elsewhere) throws IOException {
        Files.write(elsewhere.resolve("1.jpg"), JPEG);
        Files.createSymbolicLink(folder.resolve("x"), elsewhere);
        Files.createSymbolicLink(folder.resolve("y"), elsewhere);
        file("README.md", "two classes");
        try (FilesStore store = (FilesStore) RecordStore.open(folder)) {
            assertEquals(List.of("x/1.jpg", "y/1.jpg"), names(store));
            assertEquals(List.of(0L, 1L), classesOf(store));
        }
    }

    @Test
    void filesThatAreNoImagesAreLeftOutOfAFolderOfImagesAndCounted() throws IOException {
        for (String path : List.of("a/0.jpg", "a/1.PNG", "a/2.jpg", "b/0.jpg", "b/1.webp")) {
            image(path);
        }
        for (String path : List.of("a/Thumbs.db", "a/0.jpg.part", "b/notes", "labels.csv", "b/.DS_Store",
                ".git/HEAD")) {
            file(path, path);
        }
        image("preview.jpg");
        try (FilesStore store = (FilesStore) RecordStore.open(folder)) {
            assertEquals(List.of("image", "class"), store.columns().stream().map(Column::name).toList());
            assertEquals(List.of("a/0.jpg", "a/1.PNG", "a/2.jpg", "b/0.jpg", "b/1.webp"), names(store));
            assertEquals(List.of(0L, 0L, 0L, 1L, 1L), classesOf(store));
        }
        var details = Inspection.of(folder, Depth.STRUCTURE).toMap();
        assertEquals(4L, details.get("skipped_files"));
        assertEquals(3L, details.get("skipped_hidden"));
        assertEquals("3 files that are no images (a/0.jpg.part, b/notes, labels.csv), 1 image beside the"
                + " folders of classes (preview.jpg), 3 hidden", details.get("left_out"));
        try (RecordStore all = FilesStore.openAll(Location.of(folder))) {
            assertEquals(9, all.size());
            assertEquals("file", all.columns().getFirst().name());
        }
    }

    @Test
    void theFingerprintOfImagesDoesNotChangeWithWhatIsLeftOut() throws IOException {
        image("a/0.jpg");
        image("b/0.jpg");
        String before = fingerprint();
        file("a/Thumbs.db", "x");
        assertEquals(before, fingerprint());
    }

    @Test
    void textsBesideImagesAreRecordsToo() throws IOException {
        image("a/0.jpg");
        image("a/1.jpg");
        file("a/0.txt", "a caption");
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(List.of("a/0.jpg", "a/0.txt", "a/1.jpg"), names(store));
            assertEquals("file", store.columns().getFirst().name());
        }
    }

    @Test
    void linksThatLeadBackAreLeftOutAndThoseThatMayBeClassesButLeadNowhereRefused() throws IOException {
        image("a/0.jpg");
        image("b/0.jpg");
        Files.createSymbolicLink(folder.resolve("a/up"), Path.of(".."));
        Files.createSymbolicLink(folder.resolve("a/self"), Path.of("self"));
        Files.createSymbolicLink(folder.resolve("a/b"), Path.of("../b"));
        Files.createSymbolicLink(folder.resolve("b/a"), Path.of("../a"));
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(List.of("a/0.jpg", "a/b/0.jpg", "b/0.jpg", "b/a/0.jpg"), names(store));
        }
        // In a: up, self, b/a. In b: a/up, a/self, a/b.
        assertEquals(6L, Inspection.of(folder, Depth.STRUCTURE).toMap().get("skipped_links"));
        Files.createSymbolicLink(folder.resolve("c"), Path.of("gone"));
        String message = assertThrows(MalformedStoreException.class, () -> RecordStore.open(folder)).getMessage();
        assertTrue(message.contains("the link c, which leads nowhere"), message);
    }

    @Test
    void aLinkOutOfAFolderOfImagesToWhatIsNoImageIsNotRead(@TempDir Path elsewhere) throws IOException {
        image("a/0.jpg");
        Files.writeString(elsewhere.resolve("secret"), "secret");
        Files.createSymbolicLink(folder.resolve("a/1.jpg"), elsewhere.resolve("secret"));
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(2, store.size());
            String message = assertThrows(UncheckedIOException.class, () -> store.locate(1, 0, new Span()))
                    .getMessage();
            assertTrue(message.contains("a link that leaves") && message.contains("no image"), message);
        }
    }

    /** Names that zips of other systems leave behind: Latin-1, and UTF-8 beside it. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void namesThatAreNotUtf8AreReadByTheirBytes() throws IOException {
        String base = folder.toUri().toString();
        List<String> names = List.of("a/0.jpg", "a/caf%C3%A9.jpg", "a/caf%E8.jpg", "a/caf%E9.jpg", "%FC/1.jpg");
        for (String name : names) {
            Path file = Path.of(URI.create(base + name));
            Files.createDirectories(file.getParent());
            Files.writeString(file, name.equals("a/caf%E9.jpg") ? name + "x".repeat(300_000) : name);
        }
        try (FilesStore store = (FilesStore) RecordStore.open(folder)) {
            assertEquals(List.of("a", "%FC"), store.classes());
            assertEquals(List.of("a/0.jpg", "a/caf\u00e9.jpg", "a/caf%E8.jpg", "a/caf%E9.jpg", "%FC/1.jpg"),
                    names(store));
            assertEquals(List.of(0L, 0L, 0L, 0L, 1L), classesOf(store));
            for (int i = 0; i < names.size(); i++) {
                assertTrue(new String(value(store, i), StandardCharsets.UTF_8).startsWith(names.get(i)));
            }
        }
        Inspection.of(folder, Depth.CONTENT);
    }

    @Test
    void linksThatLeaveTheFolderAreLeftOutAndCounted(@TempDir Path elsewhere) throws IOException {
        file("a/1.txt", "one");
        Files.writeString(elsewhere.resolve("secret.txt"), "secret");
        Files.createSymbolicLink(folder.resolve("a/inside.txt"), Path.of("1.txt"));
        Files.createSymbolicLink(folder.resolve("a/outside.txt"), elsewhere.resolve("secret.txt"));
        Files.createSymbolicLink(folder.resolve("a/broken.txt"), Path.of("none"));
        Files.createSymbolicLink(folder.resolve("a/loop"), Path.of("loop"));
        Files.createSymbolicLink(folder.resolve("up"), elsewhere);
        Files.createSymbolicLink(folder.resolve("again"), Path.of("a"));
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(List.of("a/1.txt", "a/inside.txt"), names(store));
            assertEquals(5L, Inspection.of(folder, Depth.STRUCTURE).toMap().get("skipped_links"));
            Files.delete(folder.resolve("a/1.txt"));
            Files.createSymbolicLink(folder.resolve("a/1.txt"), elsewhere.resolve("secret.txt"));
            String message = assertThrows(UncheckedIOException.class, () -> store.locate(0, 0, new Span()))
                    .getMessage();
            assertTrue(message.contains("1.txt"), message);
        }
    }

    @Test
    void filesOfAllSizesStayWhatTheyWereOnceTheyAreLocated() throws IOException {
        int[] sizes = {0, 1, 4095, 4096, 100_000, (256 << 10) - 1, 256 << 10, 3 << 20};
        for (int i = 0; i < sizes.length; i++) {
            byte[] bytes = new byte[sizes[i]];
            new SplittableRandom(i).nextBytes(bytes);
            Files.write(folder.resolve("f" + i), bytes);
        }
        try (RecordStore store = RecordStore.open(folder)) {
            Span[] spans = new Span[sizes.length];
            for (int i = 0; i < sizes.length; i++) {
                spans[i] = new Span();
                store.locate(i, 0, spans[i]);
            }
            for (int i = 0; i < sizes.length; i++) {
                byte[] bytes = new byte[sizes[i]];
                new SplittableRandom(i).nextBytes(bytes);
                assertArrayEquals(bytes, spans[i].segment().asSlice(spans[i].byteOffset(), spans[i].byteSize())
                        .toArray(ValueLayout.JAVA_BYTE));
                assertArrayEquals(bytes, value(store, i));
            }
        }
    }

    @Test
    void manyThreadsFindTheSame() throws IOException {
        for (int i = 0; i < 500; i++) {
            file(i % 10 + "/" + i + ".txt", "content " + i);
        }
        try (RecordStore store = RecordStore.open(folder)) {
            IntStream.range(0, 4000).parallel().forEach(i -> {
                String name = store.name(i % 500);
                assertEquals("content " + name.substring(2, name.length() - 4),
                        new String(value(store, i % 500), StandardCharsets.UTF_8));
            });
        }
    }

    @Test
    void aFileThatIsGoneIsNamedAndAnEmptyFolderRefused() throws IOException {
        file("a.txt", "a");
        try (RecordStore store = RecordStore.open(folder)) {
            Files.delete(folder.resolve("a.txt"));
            assertTrue(assertThrows(UncheckedIOException.class, () -> store.locate(0, 0, new Span())).getMessage()
                    .contains("a.txt"));
        }
        assertThrows(MalformedStoreException.class, () -> FilesStore.open(Location.of(folder)));
        assertThrows(MalformedStoreException.class, () -> RecordStore.open(folder));
    }

    @Test
    void theFingerprintTellsOtherFilesApart() throws IOException {
        file("a.txt", "a");
        String first = fingerprint();
        assertEquals(first, fingerprint());
        file("a.txt", "aa");
        assertNotEquals(first, fingerprint());
        Files.move(folder.resolve("a.txt"), folder.resolve("b.txt"));
        file("b.txt", "a");
        assertNotEquals(first, fingerprint());
    }

    private String fingerprint() throws IOException {
        try (RecordStore store = RecordStore.open(folder)) {
            return store.fingerprint();
        }
    }

    @Test
    void filesBeyondTheLimitOfMappingsAreCopiedWhateverTheirSize() throws IOException {
        byte[][] contents = new byte[5][];
        for (int i = 0; i < contents.length; i++) {
            contents[i] = new byte[i % 2 == 0 ? 1000 + i : (300 << 10) + i];
            new SplittableRandom(i).nextBytes(contents[i]);
            Files.write(folder.resolve(i + ".bin"), contents[i]);
        }
        try (Arena arena = Arena.ofShared();
                FileBytes bytes = new FileBytes(FileList.of(folder, arena, false), arena, 1)) {
            Span mapped = new Span();
            bytes.locate(1, mapped);
            Span span = new Span();
            for (int i = contents.length - 1; i >= 0; i--) {
                bytes.locate(i, span);
                assertArrayEquals(contents[i], span.slice().toArray(ValueLayout.JAVA_BYTE));
                assertEquals(i == 1, span.isBeside(mapped), "file " + i);
            }
        }
    }

    @Test
    void filesOfAFolderAreCheckedWhereTheyHaveChecksums() throws Exception {
        file("notes.txt", "a");
        Path notes = folder.resolve("notes.txt");
        BlockChecksums.write(notes, IfExists.FAIL, _ -> { });
        Verification result = verified();
        assertTrue(result.isGood());
        assertEquals(List.of(Location.of(folder), Location.of(notes)),
                result.files().stream().map(CheckedFile::file).toList());
        Files.writeString(notes, "b");
        assertEquals(List.of("crc32c"), verified().faults().stream().map(Fault::check).toList());
    }

    private Verification verified() throws IOException, InterruptedException {
        return Verification.run(Location.of(folder), OpenOptions.DEFAULT, 2, Progress.NONE);
    }
}
