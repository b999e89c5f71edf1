// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** safetensors and numpy wrote these files, and read in them what the manifest says. */
class TensorFixturesTest {

    private static final String[] KINDS = {"safetensors", "npz"};

    /** What of a manifest's entry is not about the content of the store. */
    private static final Set<String> ABOUT_THE_FIXTURE =
            Set.of("id", "path", "writer", "expect", "arrays", "reference", "note");

    /** What each message must say for its reader to find what is wrong. */
    private static final Map<String, List<String>> WORDS_OF_THE_REASON = Map.ofEntries(
            Map.entry("npz/reject_truncated.npz", List.of("no end of a zip directory")),
            Map.entry("npz/reject_crc.npz", List.of("image.npy", "CRC-32")),
            Map.entry("safetensors/reject_overlap.safetensors", List.of("'b' begins at 8", "expected 16")),
            Map.entry("safetensors/reject_header_too_long.safetensors", List.of("byte 182", "10000")),
            Map.entry("safetensors/reject_header_100mb.safetensors", List.of("100000001", "at most 100000000")),
            Map.entry("safetensors/reject_offsets_out_of_range.safetensors", List.of("64 bytes", "1016")),
            Map.entry("safetensors/reject_duplicate_keys.safetensors", List.of("byte 63", "\"a\" again", "once")),
            Map.entry("safetensors/reject_hole.safetensors", List.of("'b' begins at 24", "expected 16")),
            Map.entry("safetensors/reject_non_utf8_header.safetensors", List.of("byte 10", "0xFF", "UTF-8")),
            Map.entry("safetensors/reject_trailing_bytes.safetensors", List.of("69 bytes", "expected 64")),
            Map.entry("safetensors/reject_truncated_data.safetensors", List.of("59 bytes", "expected 64")),
            Map.entry("safetensors/reject_size_mismatch.safetensors", List.of("'a'", "0 to 16", "20 bytes")),
            Map.entry("safetensors/reject_unknown_dtype.safetensors", List.of("a.dtype", "F32X")),
            Map.entry("safetensors/reject_not_json.safetensors", List.of("byte 14", "'o'")),
            Map.entry("safetensors/reject_short_file.safetensors", List.of("byte 3", "8 bytes")));

    @TestFactory
    Stream<DynamicTest> whatTheirLibraryReadsIsReadTheSame() throws IOException {
        return Fixtures.entries(KINDS).filter(e -> e.expect().equals("read"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertReadsAs(entry)));
    }

    /** Files of one tensor, whose type is the format's and not ours. */
    private static final Map<String, List<String>> WORDS_OF_THE_REFUSAL = Map.of(
            "safetensors/ror_float8_e8m0fnu.safetensors", List.of("F8_E8M0", "exponents"),
            "safetensors/ror_float8_e4m3fnuz.safetensors", List.of("F8_E4M3FNUZ", "negative zero"),
            "safetensors/ror_float8_e5m2fnuz.safetensors", List.of("F8_E5M2FNUZ", "negative zero"),
            "safetensors/ror_complex64.safetensors", List.of("C64", "complex"));

    @TestFactory
    Stream<DynamicTest> aTensorOfATypeThatIsNotOursIsListed() throws IOException {
        return Fixtures.entries(KINDS).filter(e -> WORDS_OF_THE_REFUSAL.containsKey(e.toString()))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> {
                    try (TensorStore store = TensorStore.open(entry.path())) {
                        assertTrue(store.tensors().isEmpty());
                        String name = (String) entry.arrays().getFirst().get("name");
                        String why = store.unread().get(name);
                        for (String word : WORDS_OF_THE_REFUSAL.get(entry.toString())) {
                            assertTrue(why.contains(word), why);
                        }
                        Map<String, Object> listed = Json.object(Json.array(Json.parse(Json.write(Inspection.of(
                                Location.of(entry.path()), store, Depth.CONTENT,
                                Progress.NONE).details().get("other_tensors")))).getFirst());
                        for (String field : List.of("name", "stored_dtype", "shape", "nbytes")) {
                            assertEquals(entry.arrays().getFirst().get(field), listed.get(field));
                        }
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> whatIsMalformedOrOfNoTypeThatIsReadIsRefusedInOneLine() throws IOException {
        return Fixtures.entries(KINDS).filter(e -> !e.expect().equals("read")
                        && !WORDS_OF_THE_REFUSAL.containsKey(e.toString()))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertRefused(entry)));
    }

    @Test
    void aDeflatedMemberIsInspectedWithoutBeingDecoded() throws IOException {
        Entry entry = Fixtures.entries("npz").filter(e -> e.toString().contains("deflated")).findAny().orElseThrow();
        Map<String, Object> found =
                Json.object(Json.parse(Json.write(Inspection.of(entry.path(), Depth.STRUCTURE).toMap())));
        for (int i = 0; i < entry.arrays().size(); i++) {
            Map<String, Object> array = Json.object(Json.array(found.get("arrays")).get(i));
            assertEquals(entry.arrays().get(i).get("shape"), array.get("shape"));
            assertFalse(array.containsKey("sha256"));
        }
    }

    private static void assertReadsAs(Entry entry) throws IOException {
        Map<String, Object> found =
                Json.object(Json.parse(Json.write(Inspection.of(entry.path(), Depth.CONTENT).toMap())));
        entry.fields().forEach((name, value) -> {
            if (!ABOUT_THE_FIXTURE.contains(name)) {
                assertEquals(value, found.get(name), name);
            }
        });
        List<Map<String, Object>> arrays = Json.array(found.get("arrays")).stream().map(Json::object).toList();
        assertEquals(entry.arrays().size(), arrays.size());
        try (TensorStore store = TensorStore.open(entry.path())) {
            for (int i = 0; i < arrays.size(); i++) {
                Map<String, Object> expected = entry.arrays().get(i);
                Map<String, Object> array = arrays.get(i);
                expected.forEach((name, value) -> {
                    if (!name.equals("spots")) {
                        assertEquals(value, array.get(name), name);
                    }
                });
                Fixtures.assertSpots(expected, store.tensor(i));
                assertLocatesAll(store, i, entry);
            }
        }
    }

    /** All rows together are the tensor; they are in the file unless the store says that it has a copy. */
    private static void assertLocatesAll(TensorStore store, int index, Entry entry) {
        TensorSpec spec = store.tensors().get(index);
        Span span = new Span();
        store.locate(index, 0, spec.rank() == 0 ? 1 : spec.dim(0), span);
        assertEquals(-1, span.slice().mismatch(store.tensor(index).segment()));
        boolean isCopy = !span.file().location().path().startsWith(entry.path().toString());
        assertEquals(isCopy, store.isConverted(index), spec.name());
    }

    private static void assertRefused(Entry entry) {
        for (var open : List.<org.junit.jupiter.api.function.Executable>of(
                () -> Inspection.of(entry.path(), Depth.CONTENT), () -> TensorStore.open(entry.path()).close())) {
            String message = assertThrows(MalformedStoreException.class, open).getMessage();
            assertTrue(message.contains(entry.path().getFileName().toString()), message);
            assertTrue(message.contains(", expected "), message);
            assertFalse(message.contains("\n"), message);
            for (String word : WORDS_OF_THE_REASON.get(entry.toString())) {
                assertTrue(message.contains(word), () -> "'" + word + "' is not in: " + message);
            }
        }
    }
}
