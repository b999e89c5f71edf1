// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** WebDataset, GNU tar and Python's tarfile wrote these tars, and WebDataset reads in them what the manifest says. */
class WebDatasetFixturesTest {

    private static final Map<String, List<String>> WORDS_OF_THE_REASON = Map.of(
            "webdataset/reject_truncated.tar", List.of("ends inside", "000005.jpg"),
            "webdataset/reject_truncated.tar.gz", List.of("cut"),
            "webdataset/reject_bad_header_checksum.tar", List.of("at byte 148", "checksum"));

    @TestFactory
    Stream<DynamicTest> whatWebDatasetReadsIsReadTheSame() throws IOException {
        return Fixtures.entries("webdataset").filter(entry -> entry.expect().equals("read"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> {
                    Map<String, Object> found = Json.object(Json.parse(Json.write(
                            Inspection.of(entry.path(), Depth.CONTENT).toMap())));
                    for (String field : List.of("kind", "regular_members", "member_digest", "sample_count",
                            "samples")) {
                        assertEquals(entry.fields().get(field), found.get(field), field);
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> recordsHaveTheMembersOfSamplesAndNoOthers() throws IOException {
        return Fixtures.entries("webdataset").filter(entry -> entry.expect().equals("read"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertRecords(entry)));
    }

    private static void assertRecords(Entry entry) throws IOException {
        try (RecordStore store = RecordStore.open(entry.path())) {
            List<Object> samples = Json.array(entry.fields().get("samples"));
            assertEquals(samples.size(), store.size());
            boolean compressed = !entry.path().toString().endsWith(".tar");
            Span span = new Span();
            for (int i = 0; i < store.size(); i++) {
                Map<String, Object> sample = Json.object(samples.get(i));
                assertEquals(sample.get("key") + " of " + entry.path(), store.name(i));
                Map<String, Object> found = new LinkedHashMap<>();
                for (int c = 0; c < store.columns().size(); c++) {
                    Column column = store.columns().get(c);
                    assertEquals(compressed, store.isConverted(c));
                    assertEquals(column.name(), column.encoding());
                    if (store.isPresent(i, c)) {
                        store.locate(i, c, span);
                        assertEquals(compressed, !span.file().location().equals(Location.of(entry.path())));
                        assertTrue(span.byteSize() <= store.maxLength(c));
                        found.put(column.name(), Map.of("bytes", span.byteSize(), "sha256", Sha256.hex(
                                span.slice(), _ -> { }).substring(0, 32)));
                    }
                }
                assertEquals(sample.get("members"), found);
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> whatIsMalformedIsRefusedInOneLineThatNamesTheFileAndTheReason() throws IOException {
        return Fixtures.entries("webdataset").filter(entry -> entry.expect().equals("reject"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> {
                    String message = assertThrows(MalformedStoreException.class,
                            () -> Inspection.of(entry.path(), Depth.CONTENT)).getMessage();
                    assertFalse(message.contains("\n"), message);
                    assertTrue(message.startsWith(entry.path().toString()), message);
                    for (String word : WORDS_OF_THE_REASON.get(entry.toString())) {
                        assertTrue(message.contains(word), message);
                    }
                }));
    }

    @Test
    void aMissingMemberIsAnErrorThatNamesKeyShardAndSuffix() throws IOException {
        try (RecordStore store = RecordStore.open(Fixtures.path("webdataset/missing_member.tar"))) {
            int txt = store.columns().stream().map(Column::name).toList().indexOf("txt");
            assertFalse(store.isPresent(2, txt));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(2, txt, new Span()))
                    .getMessage();
            assertTrue(message.contains("missing_member.tar") && message.contains("'m02'") && message.contains("'txt'"),
                    message);
        }
    }

    @Test
    void severalShardsAreOneStoreAndABraceExpansionNamesThem() throws IOException {
        try (WebDatasetStore store = (WebDatasetStore) RecordStore.open(
                Fixtures.path("webdataset/shard-{000000..000002}.tar"))) {
            assertEquals(22, store.size());
            assertEquals(3, store.shards().size());
            assertEquals(List.of(0L, 8L, 16L, 22L), Stream.of(0, 1, 2, 3).map(store::firstRecord).toList());
            for (int i = 0; i < 22; i++) {
                assertEquals(String.format("%06d", i), store.key(i));
                assertEquals(i / 8, store.shardOf(i));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.key(22));
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(-1, 0, new Span()));
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, store.columns().size(), new Span()));
        }
    }
}
