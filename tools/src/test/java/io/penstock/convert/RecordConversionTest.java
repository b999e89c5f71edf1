// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.decode.Decoder;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.testing.Digests;
import io.penstock.testing.Folders;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of records as tokens and tensors, against the digests of the libraries that wrote them. */
class RecordConversionTest {

    @TempDir
    private Path folder;

    private static List<Map<String, Object>> columns(String path, String kind) throws IOException {
        Fixtures.Entry entry = Converted.readable(kind).stream().filter(e -> e.path().equals(Fixtures.path(path)))
                .findFirst().orElseThrow();
        Object columns = kind.equals("mds") ? entry.fields().get("columns")
                : Json.object(entry.fields().get("table")).get("columns");
        return Json.array(columns).stream().map(Json::object).toList();
    }

    private static String lengths(TokenStore store) {
        MessageDigest sha256 = Digests.sha256();
        for (long d = 0; d < store.documentCount(); d++) {
            int length = (int) (store.documentStart(d + 1) - store.documentStart(d));
            sha256.update(new byte[] {(byte) length, (byte) (length >> 8), (byte) (length >> 16),
                (byte) (length >> 24)});
        }
        return HexFormat.of().formatHex(sha256.digest());
    }

    @Test
    void listsOfIntegersBecomeDocuments() throws Exception {
        String[][] cases = {{"arrow", "arrow/hf_dataset", "tokens"}, {"arrow", "arrow/hf_dataset", "ids"},
            {"arrow", "arrow/hf_dataset", "wide"}, {"arrow", "arrow/stream_uncompressed.arrow", "ids"},
            {"arrow", "arrow/file_uncompressed.arrow", "tokens"}, {"parquet", "parquet/tokens_none.parquet",
                "input_ids"}, {"parquet", "parquet/tokens_snappy.parquet", "input_ids"},
            {"parquet", "parquet/tokens_zstd.parquet", "input_ids"},
            {"parquet", "parquet/uint16_fixed_list.parquet", "tokens"}};
        for (String[] each : cases) {
            Path target = folder.resolve(each[1].replaceAll("\\W", "_") + each[2]);
            Converted.run(Fixtures.path(each[1]), target, "megatron",
                    conversion -> conversion.fields(List.of(each[2])));
            List<Map<String, Object>> columns = columns(each[1], each[0]);
            try (TokenStore store = TokenStore.open(target)) {
                assertEquals(Converted.sha256(columns, each[2] + ".lengths"), lengths(store), each[1]);
                assertEquals(Converted.sha256(columns, each[2] + ".values"),
                        Digests.of(Converted.tokens(store).segment()), each[1]);
            }
        }
    }

    @Test
    void theUsualNameIsTakenAmongSeveralLists() throws Exception {
        ConversionSummary written = Converted.run(Fixtures.path("arrow/hf_dataset"), folder.resolve("x"),
                "megatron");
        assertEquals(60, written.records());
        assertEquals(List.of("columns: text, label, score, flag, blob", "columns: ids, wide"), written.lost());
        String refused = assertThrows(ConversionException.class, () -> Converted.run(
                Fixtures.path("arrow/hf_dataset"), folder.resolve("y"), "megatron",
                conversion -> conversion.fields(List.of("ids", "wide")))).getMessage();
        assertEquals("found several columns that could be the tokens, expected one: [ids: i32[*], wide: i64[*]]"
                + " (select one with --fields)",
                refused);
    }

    @Test
    void recordsOfMosaicBecomeDocumentsAndRows() throws Exception {
        for (String name : List.of("mds/tokens", "mds/tokens_zstd")) {
            Object truth = columns(name, "mds").stream().filter(c -> c.get("column").equals("tokens")).findFirst()
                    .orElseThrow().get("array");
            String sha256 = Json.object(truth).get("sha256").toString();
            Path tokens = folder.resolve(name.replace('/', '-'));
            Path rows = folder.resolve(tokens.getFileName() + ".npy");
            Converted.run(Fixtures.path(name), tokens, "megatron");
            ConversionSummary written = Converted.run(Fixtures.path(name), rows, "npy",
                    conversion -> conversion.fields(List.of("tokens")));
            try (TokenStore store = TokenStore.open(tokens); TensorStore array = TensorStore.open(rows)) {
                assertEquals(written.records(), store.documentCount());
                assertEquals(sha256, Digests.of(Converted.tokens(store).segment()));
                assertEquals(sha256, Digests.of(array.tensor(0).segment()));
                assertEquals(new TensorSpec("", DType.U16, written.records(), 129), array.tensors().getFirst());
            }
        }
    }

    @Test
    void aRecordWithoutAValueIsAnEmptyDocumentOrLeftOut() throws Exception {
        Path source = Fixtures.path("arrow/nulls.arrow");
        String sha256 = Converted.sha256(columns("arrow/nulls.arrow", "arrow"), "maybe_list.values");
        for (boolean skip : new boolean[] {false, true}) {
            Path target = folder.resolve("nulls" + skip);
            ConversionSummary written = Converted.run(source, target, "megatron",
                    conversion -> skip ? conversion.fields(List.of("maybe_list")).skipIncomplete()
                            : conversion.fields(List.of("maybe_list")));
            try (RecordStore records = RecordStore.open(source); TokenStore store = TokenStore.open(target)) {
                assertEquals(skip ? 7 : 11, store.documentCount());
                assertEquals(skip ? 7 : 11, written.records());
                assertTrue(written.lost().contains(skip ? "4 records without a value"
                        : "missing values: 4 records become empty documents"), written.lost().toString());
                for (int r = 0; r < 11 && !skip; r++) {
                    byte[] value = Converted.value(records, r, "maybe_list");
                    assertEquals(value == null ? 0 : value.length / 4,
                            store.documentStart(r + 1) - store.documentStart(r));
                }
                assertEquals(sha256, Digests.of(Converted.tokens(store).segment()));
            }
        }
    }

    @Test
    void columnsOfOneShapeBecomeTensors() throws Exception {
        Path target = folder.resolve("x.safetensors");
        ConversionSummary written = Converted.run(Fixtures.path("arrow/hf_dataset"), target, "safetensors");
        assertEquals(List.of("columns: ids, text, wide, blob"), written.lost());
        List<Map<String, Object>> columns = columns("arrow/hf_dataset", "arrow");
        try (TensorStore store = TensorStore.open(target)) {
            assertEquals(List.of("flag: bool[60]", "label: i64[60]", "score: f32[60]", "tokens: u16[60,129]"),
                    store.tensors().stream().map(TensorSpec::toString).sorted().toList());
            for (int i = 0; i < 4; i++) {
                String name = store.tensors().get(i).name();
                assertEquals(Converted.sha256(columns, name.equals("tokens") ? "tokens.values" : name),
                        Digests.of(store.tensor(i).segment()), name);
            }
        }
    }

    @Test
    void aTensorNeedsAValueOfEachRecordUnlessIncompleteOnesAreSkipped() throws Exception {
        Path source = Fixtures.path("arrow/nulls.arrow");
        String refused = assertThrows(ConversionException.class, () -> Converted.run(source, folder.resolve("x.npy"),
                "npy", conversion -> conversion.fields(List.of("maybe_int")))).getMessage();
        assertTrue(refused.contains(": found no value in 'maybe_int'"), refused);
        assertEquals(List.of(), Folders.names(folder));
        Converted.run(source, folder.resolve("x.npy"), "npy",
                conversion -> conversion.fields(List.of("maybe_int")).skipIncomplete());
        try (TensorStore store = TensorStore.open(folder.resolve("x.npy"))) {
            assertEquals(Converted.sha256(columns("arrow/nulls.arrow", "arrow"), "maybe_int"),
                    Digests.of(store.tensor(0).segment()));
        }
    }

    @Test
    void membersOfAWebDatasetAreDecodedByWhatTheyEncode() throws Exception {
        Path source = folder.resolve("source.tar");
        Converted.run(Fixtures.path("arrow/hf_dataset"), source, "webdataset",
                conversion -> conversion.suffixes(Map.of("label", "cls")));
        Converted.run(source, folder.resolve("x.safetensors"), "safetensors",
                conversion -> conversion.fields(List.of("cls", "tokens.npy", "score.npy")));
        Converted.run(source, folder.resolve("x"), "megatron",
                conversion -> conversion.fields(List.of("ids.npy")));
        List<Map<String, Object>> columns = columns("arrow/hf_dataset", "arrow");
        Map<String, String> truth = Map.of("cls", "label", "tokens.npy", "tokens.values", "score.npy", "score");
        try (TensorStore store = TensorStore.open(folder.resolve("x.safetensors"));
                TokenStore tokens = TokenStore.open(folder.resolve("x"))) {
            assertEquals(3, store.tensors().size());
            for (int i = 0; i < 3; i++) {
                assertEquals(Converted.sha256(columns, truth.get(store.tensors().get(i).name())),
                        Digests.of(store.tensor(i).segment()));
            }
            assertEquals(Converted.sha256(columns, "ids.lengths"), lengths(tokens));
            assertEquals(Converted.sha256(columns, "ids.values"), Digests.of(Converted.tokens(tokens).segment()));
        }
    }

    @Test
    void arraysOfOtherTypesThanTheFirstAreRefusedByName() {
        String message = assertThrows(ConversionException.class, () -> Converted.run(
                Fixtures.path("webdataset/shard-000000.tar"), folder.resolve("x.safetensors"),
                "safetensors")).getMessage();
        assertTrue(message.contains("000001 of ") && message.contains("elements of u16, expected f32"), message);
    }

    @Test
    void bytesAreTokensOnlyIfTheirTypeIsTold() throws Exception {
        RecordStore store = new MemoryRecordStore(List.of(Column.bytes("tokens", "")),
                new byte[][] {{1, 0, 2, 0}}, new byte[][] {{}}, new byte[][] {{3, 1}});
        try (store) {
            String refused = assertThrows(ConversionException.class, () -> new Conversion(store, folder.resolve("x"),
                    "megatron").run()).getMessage();
            assertEquals("found no column that is a list of integers, as megatron needs, in [tokens: u8[*] bytes] (a"
                    + " decoder"
                    + " may give one)", refused);
            new Conversion(store, folder.resolve("x"), "megatron")
                    .decoders(Map.of("tokens", Decoder.numbers(DType.U16, -1))).run();
            try (TokenStore tokens = TokenStore.open(folder.resolve("x"))) {
                assertEquals(3, tokens.documentCount());
                assertEquals(List.of(0L, 2L, 2L, 3L), List.of(tokens.documentStart(0), tokens.documentStart(1),
                        tokens.documentStart(2), tokens.documentStart(3)));
                assertEquals(259, Converted.tokens(tokens).getLong(2));
            }
        }
    }

    @Test
    void aValueThatCannotBeDecodedIsNamed() throws IOException {
        RecordStore store = new MemoryRecordStore(List.of(Column.bytes("x", "")), new byte[][] {{1, 2, 3, 4}},
                new byte[][] {{1, 2, 3}});
        try (store) {
            String message = assertThrows(ConversionException.class, () -> new Conversion(store,
                    folder.resolve("x.npy"), "npy").decoders(Map.of("x", Decoder.numbers(DType.U16, 2))).run())
                    .getMessage();
            assertTrue(message.startsWith("record number 1, field 'x': 3 bytes"), message);
        }
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void aColumnThatIsNotThereIsNamed() {
        String message = assertThrows(ConversionException.class, () -> Converted.run(
                Fixtures.path("parquet/tokens_none.parquet"), folder.resolve("x"), "megatron",
                conversion -> conversion.fields(List.of("tokens")))).getMessage();
        assertEquals("found no column 'tokens', expected one of [input_ids, doc_id, text, score]", message);
    }
}
