// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.numpy.NpyValue;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.io.Location;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.RecordStore;
import io.penstock.testing.Folders;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of records as the samples of a WebDataset. */
class SampleConversionTest {

    @TempDir
    private Path folder;

    @Test
    void everyWebDatasetComesBackSampleBySample() throws Exception {
        for (Fixtures.Entry entry : Converted.readable("webdataset")) {
            Path target = folder.resolve("x.tar");
            ConversionSummary written = Converted.run(entry.path(), target, "webdataset",
                    conversion -> conversion.ifExists(IfExists.REPLACE));
            assertEquals(List.of(), written.lost(), entry.toString());
            Map<String, Object> expected = Inspection.of(entry.path(), Depth.CONTENT).toMap();
            Map<String, Object> found = Inspection.of(target, Depth.CONTENT).toMap();
            for (String field : List.of("sample_count", "samples")) {
                assertEquals(expected.get(field), found.get(field), entry + " " + field);
            }
            try (RecordStore samples = RecordStore.open(target)) {
                assertEquals(samples.size(), written.records());
            }
        }
    }

    @Test
    void rowsBecomeSamplesWithASuffixAColumn() throws Exception {
        Path source = Fixtures.path("arrow/hf_dataset");
        ConversionSummary written = Converted.run(source, folder.resolve("x-{0000}.tar"), "webdataset",
                conversion -> conversion.shardsOf(25, Long.MAX_VALUE));
        assertEquals(List.of("x-0000.tar", "x-0001.tar", "x-0002.tar"),
                written.files().stream().map(file -> file.getFileName().toString()).toList());
        try (RecordStore rows = RecordStore.open(source);
                RecordStore samples = RecordStore.open(folder.resolve("x-{0000..0002}.tar"))) {
            assertEquals(60, samples.size());
            assertEquals(List.of("blob", "flag", "ids.npy", "label", "score.npy", "text", "tokens.npy", "wide.npy"),
                    samples.columns().stream().map(Column::name).sorted().toList());
            for (long r = 0; r < 60; r++) {
                assertEquals(String.format("%06d", r), ((WebDatasetStore) samples).key(r));
                for (String column : List.of("text", "blob")) {
                    assertArrayEquals(Converted.value(rows, r, column), Converted.value(samples, r, column));
                }
                byte[] label = Converted.value(rows, r, "label");
                assertEquals(MemorySegment.ofArray(label).get(LittleEndian.I64, 0),
                        Long.parseLong(new String(Converted.value(samples, r, "label"), StandardCharsets.US_ASCII)));
                assertArray(new TensorSpec("", DType.U16, 129), Converted.value(rows, r, "tokens"),
                        Converted.value(samples, r, "tokens.npy"));
                byte[] ids = Converted.value(rows, r, "ids");
                assertArray(new TensorSpec("", DType.I32, ids.length / 4), ids,
                        Converted.value(samples, r, "ids.npy"));
                assertArray(new TensorSpec("", DType.F32), Converted.value(rows, r, "score"),
                        Converted.value(samples, r, "score.npy"));
            }
        }
    }

    private static void assertArray(TensorSpec spec, byte[] elements, byte[] npy) throws IOException {
        assertEquals(spec, new NpyValue(null).read(MemorySegment.ofArray(npy), npy.length));
        assertArrayEquals(elements, Arrays.copyOfRange(npy, npy.length - elements.length, npy.length));
    }

    @Test
    void encodingsBecomeEndingsAndArraysOfMosaicNumpys() throws Exception {
        Path source = Fixtures.path("mds/mixed_columns");
        Converted.run(source, folder.resolve("x.tar"), "webdataset");
        Converted.run(Fixtures.path("mds/images"), folder.resolve("y.tar"), "webdataset");
        try (RecordStore samples = RecordStore.open(folder.resolve("x.tar"));
                RecordStore images = RecordStore.open(folder.resolve("y.tar"));
                RecordStore rows = RecordStore.open(source)) {
            assertEquals(List.of("b", "dyn.npy", "f16.npy", "f64.npy", "i8", "meta.json", "png", "typed.npy", "u32"),
                    samples.columns().stream().map(Column::name).sorted().toList());
            assertEquals(List.of("caption.txt", "image.jpeg", "label"),
                    images.columns().stream().map(Column::name).sorted().toList());
            for (long r = 0; r < rows.size(); r++) {
                byte[] typed = Converted.value(rows, r, "typed");
                byte[] npy = Converted.value(samples, r, "typed.npy");
                TensorSpec spec = new NpyValue(null).read(MemorySegment.ofArray(npy), npy.length);
                assertEquals(DType.F32, spec.dtype());
                assertArray(spec, Arrays.copyOfRange(typed, typed.length - (int) spec.byteSize(), typed.length), npy);
                assertArrayEquals(Converted.value(rows, r, "png"), Converted.value(samples, r, "png"));
            }
        }
    }

    @Test
    void missingValuesAreNoMembersAndARecordWithoutAnyIsNoSample() throws Exception {
        Path source = Fixtures.path("parquet/nulls.parquet");
        ConversionSummary written = Converted.run(source, folder.resolve("x.tar"), "webdataset");
        try (RecordStore rows = RecordStore.open(source);
                WebDatasetStore samples = WebDatasetStore.open(Location.of(folder.resolve("x.tar")))) {
            long sample = 0;
            for (long r = 0; r < rows.size(); r++) {
                byte[] text = Converted.value(rows, r, "s");
                byte[] list = Converted.value(rows, r, "ids");
                if (text == null && list == null && Converted.value(rows, r, "x") == null) {
                    continue;
                }
                assertEquals(String.format("%06d", r), samples.key(sample));
                assertArrayEquals(text, Converted.value(samples, sample, "s.txt"));
                assertEquals(list == null, Converted.value(samples, sample, "ids.npy") == null);
                sample++;
            }
            assertEquals(sample, samples.size());
            assertEquals(List.of((rows.size() - sample) + " records without any value"), written.lost());
        }
    }

    @Test
    void pairsKeepTheirKeysWhereTheyAreTexts() throws Exception {
        Converted.run(Fixtures.path("lmdb/basic"), folder.resolve("x.tar"), "webdataset");
        ConversionSummary twice = Converted.run(Fixtures.path("lmdb/dupsort"), folder.resolve("y.tar"),
                "webdataset");
        assertTrue(twice.lost().getFirst().startsWith("record names: "), twice.lost().toString());
        try (RecordStore pairs = RecordStore.open(Fixtures.path("lmdb/basic"));
                WebDatasetStore samples = WebDatasetStore.open(Location.of(folder.resolve("x.tar")));
                RecordStore doubled = RecordStore.open(folder.resolve("y.tar"))) {
            assertEquals(List.of("value"), samples.columns().stream().map(Column::name).toList());
            assertEquals(List.of("key", "value"), doubled.columns().stream().map(Column::name).sorted().toList());
            for (long r = 0; r < pairs.size(); r++) {
                assertEquals(new String(Converted.value(pairs, r, "key"), StandardCharsets.UTF_8), samples.key(r));
                assertArrayEquals(Converted.value(pairs, r, "value"), Converted.value(samples, r, "value"));
            }
        }
    }

    @Test
    void filesThatDifferInTheirEndingsAloneAreOneSample() throws Exception {
        Path source = Files.createDirectory(folder.resolve("files"));
        for (String name : List.of("cat/1.jpg", "cat/1.seg.PNG", "cat/1.txt", "cat/10.jpg", "dog/1.jpg",
                "dog/README")) {
            Files.createDirectories(source.resolve(name).getParent());
            Files.writeString(source.resolve(name), name);
        }
        assertEquals(4, Converted.run(source, folder.resolve("x.tar"), "webdataset").records());
        try (WebDatasetStore samples = WebDatasetStore.open(Location.of(folder.resolve("x.tar")))) {
            assertEquals("cat/1.seg.PNG", new String(Converted.value(samples, 0, "seg.png")));
            assertEquals("cat/1.txt", new String(Converted.value(samples, 0, "txt")));
            assertEquals(List.of("cat/1", "cat/10", "dog/1", "dog/README"),
                    List.of(samples.key(0), samples.key(1), samples.key(2), samples.key(3)));
            assertEquals("dog/README", new String(Converted.value(samples, 3, "file")));
            assertEquals("1", new String(Converted.value(samples, 3, "class")));
        }
    }

    @Test
    void aFileWhoseSuffixIsThatOfItsClassIsRefusedUnlessTheClassHasAnother() throws Exception {
        Path source = folder.resolve("programs");
        for (String name : List.of("good/A.class", "bad/B.class")) {
            Files.createDirectories(source.resolve(name).getParent());
            Files.writeString(source.resolve(name), name);
        }
        String refused = assertThrows(ConversionException.class,
                () -> Converted.run(source, folder.resolve("x.tar"), "webdataset")).getMessage();
        assertEquals("bad/B.class: its suffix 'class' is also that of column 'class' (name another suffix for the"
                + " column)", refused);
        assertEquals(List.of("programs"), Folders.names(folder));
        Converted.run(source, folder.resolve("x.tar"), "webdataset",
                conversion -> conversion.suffixes(Map.of("class", "cls")));
        try (RecordStore samples = RecordStore.open(folder.resolve("x.tar"))) {
            assertEquals("good/A.class", new String(Converted.value(samples, 1, "class")));
            assertEquals("1", new String(Converted.value(samples, 1, "cls")));
        }
    }

    @Test
    void recordsThatLackAValueAreLeftOutOnRequest() throws Exception {
        RecordStore store = new MemoryRecordStore(List.of(Column.bytes("x", ""), Column.bytes("y", "")),
                new byte[][] {{1}, null}, new byte[][] {{2}, {3}}, new byte[][] {null, null});
        try (store) {
            ConversionSummary written = new Conversion(store, folder.resolve("x.tar"), "webdataset")
                    .skipIncomplete().run();
            assertEquals(1, written.records());
            assertEquals(List.of("2 records that lack a value"), written.lost());
        }
        try (WebDatasetStore samples = WebDatasetStore.open(Location.of(folder.resolve("x.tar")))) {
            assertEquals(1, samples.size());
            assertEquals("000001", samples.key(0));
            assertArrayEquals(new byte[] {2}, Converted.value(samples, 0, "x"));
        }
    }

    @Test
    void suffixesAreToldWhereTheyWouldBeTheSame() throws Exception {
        RecordStore store = new MemoryRecordStore(List.of(Column.bytes("A", ""), Column.bytes("a", "")),
                new byte[][] {{1}, {2}});
        try (store) {
            Conversion conversion = new Conversion(store, folder.resolve("x.tar"), "webdataset");
            assertEquals("columns 'A' and 'a' would both have the suffix 'a' (name other suffixes)",
                    assertThrows(ConversionException.class, conversion::run).getMessage());
            assertEquals(List.of(), Folders.names(folder));
            conversion.suffixes(Map.of("A", "big.bin")).run();
            try (RecordStore samples = RecordStore.open(folder.resolve("x.tar"))) {
                assertArrayEquals(new byte[] {1}, Converted.value(samples, 0, "big.bin"));
                assertArrayEquals(new byte[] {2}, Converted.value(samples, 0, "a"));
            }
            assertThrows(ConversionException.class, () -> new Conversion(store, folder.resolve("y.tar"),
                    "webdataset").suffixes(Map.of("A", "not/a.suffix")).run());
        }
    }

    @Test
    void shardsThatAreThereAreKeptUnlessTheyAreToBeReplaced() throws Exception {
        Path source = Fixtures.path("webdataset/shard-000000.tar");
        Path target = folder.resolve("x-{000000}.tar");
        Files.writeString(folder.resolve("x-000007.tar"), "other");
        assertThrows(FileAlreadyExistsException.class,
                () -> Converted.run(source, target, "webdataset"));
        assertEquals(List.of("x-000007.tar"), Folders.names(folder));
        Files.move(folder.resolve("x-000007.tar"), folder.resolve("x-000000.tar"));
        Converted.run(source, target, "webdataset", conversion -> conversion.ifExists(IfExists.REPLACE));
        assertTrue(Files.size(folder.resolve("x-000000.tar")) > 5);
    }

    @Test
    void anInterruptEndsItAndLeavesNothing() throws Exception {
        byte[][][] values = new byte[5000][1][1000];
        try (RecordStore store = new MemoryRecordStore(List.of(Column.bytes("x", "")), values)) {
            for (String name : List.of("x.tar", "x-%05d.tar")) {
                Conversion conversion = new Conversion(store, folder.resolve(name), "webdataset")
                        .shardsOf(100, Long.MAX_VALUE).progress((done, total) -> {
                            assertEquals(5000, total);
                            if (done > 3000) {
                                Thread.currentThread().interrupt();
                            }
                        });
                assertThrows(InterruptedException.class, conversion::run);
                assertEquals(List.of(), Folders.names(folder));
            }
        }
    }
}
