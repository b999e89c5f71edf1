// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Fixtures;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The HDF5 library wrote these files, by h5py, and read in them what the manifest and {@code truth.json} say. */
class Hdf5FixturesTest {

    private static final Set<String> ABOUT_THE_FIXTURE =
            Set.of("id", "path", "writer", "expect", "note", "libver", "arrays", "attributes", "reference");

    /** A file of this package's own fixtures, which {@code src/test/python/hdf5_fixtures.py} writes. */
    static Path own(String name) {
        try {
            return Path.of(Hdf5FixturesTest.class.getResource("/hdf5").toURI()).resolve(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> filesOfTheManifestAreReadAsTheLibraryReadsThem() throws IOException {
        return Fixtures.entries("hdf5").filter(entry -> entry.expect().equals("read"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(),
                        () -> assertReadsAs(entry.path(), entry.fields())));
    }

    @TestFactory
    Stream<DynamicTest> filesOfOurOwnAreReadAsTheLibraryReadsThem() throws IOException {
        return Json.object(Json.parse(Files.readAllBytes(own("truth.json")))).entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(),
                        () -> assertReadsAs(own(entry.getKey()), Json.object(entry.getValue()))));
    }

    private static void assertReadsAs(Path path, Map<String, Object> truth) throws IOException {
        Map<String, Object> found = Json.object(Json.parse(Json.write(Inspection.of(path, Depth.CONTENT).toMap())));
        assertEquals("hdf5", found.get("kind"));
        truth.forEach((name, value) -> {
            if (name.equals("other_datasets")) {
                assertEquals(value, objects(found, name).stream().map(other -> other.get("name")).toList());
            } else if (!ABOUT_THE_FIXTURE.contains(name)) {
                assertEquals(value, found.get(name), name);
            }
        });
        assertHave(objects(truth, "arrays"), objects(found, "arrays"));
        assertHave(objects(truth, "attributes"), objects(found, "attributes"));
        try (TensorStore store = TensorStore.open(path)) {
            List<Map<String, Object>> arrays = objects(truth, "arrays");
            assertEquals(arrays.stream().map(array -> array.get("name")).toList(),
                    store.tensors().stream().map(TensorSpec::name).toList());
            for (int i = 0; i < arrays.size(); i++) {
                Fixtures.assertSpots(arrays.get(i), store.tensor(i));
                assertEquals(arrays.get(i).get("sha256"), Sha256.hex(store.tensor(i).segment(), _ -> { }));
            }
        }
    }

    private static List<Map<String, Object>> objects(Map<String, Object> of, String name) {
        return Json.array(of.getOrDefault(name, List.of())).stream().map(Json::object).toList();
    }

    /** In the same order, all that is known of each; what is found may say more. */
    private static void assertHave(List<Map<String, Object>> expected, List<Map<String, Object>> found) {
        assertEquals(expected.stream().map(Hdf5FixturesTest::nameOf).toList(),
                found.stream().map(Hdf5FixturesTest::nameOf).toList());
        for (int i = 0; i < expected.size(); i++) {
            Map<String, Object> one = found.get(i);
            expected.get(i).forEach((name, value) -> {
                if (!name.equals("spots")) {
                    assertEquals(value, one.get(name), () -> nameOf(one) + ": " + name);
                }
            });
        }
    }

    private static String nameOf(Map<String, Object> object) {
        return object.getOrDefault("path", "") + " " + object.get("name");
    }

    @Test
    void whatIsMalformedIsRefusedInOneLineThatNamesTheFileAndThePlace() throws IOException {
        Map<String, List<String>> words = Map.of(
                "hdf5/reject_truncated.h5", List.of("at byte 17654", "byte 29424", "truncated"),
                "hdf5/reject_bad_signature.h5", List.of("signature"),
                "hdf5/reject_empty_file.h5", List.of("empty"),
                "hdf5/reject_corrupt_gzip_chunk.h5", List.of("chunk 2 of /img", "deflate"));
        for (Fixtures.Entry entry : Fixtures.entries("hdf5").filter(e -> e.expect().equals("reject")).toList()) {
            String message =
                    assertThrows(MalformedStoreException.class, () -> Inspection.of(entry.path(), Depth.CONTENT))
                    .getMessage();
            assertTrue(message.contains(entry.path().getFileName().toString()), message);
            assertFalse(message.contains("\n"), message);
            for (String word : words.get(entry.toString())) {
                assertTrue(message.contains(word), () -> "'" + word + "' is not in: " + message);
            }
        }
    }

    /** Row by row, and in runs across bands of chunks, the bytes are those of the whole tensor. */
    @Test
    void rowsAreThoseOfTheTensorWhereverTheyAreStored() throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        for (String name : List.of("indexes_old.h5", "indexes_latest.h5", "bands.h5", "kinds_old.h5",
                "user_block_latest.h5")) {
            Path file = own(name);
            try (TensorStore whole = TensorStore.open(file); TensorStore rows = TensorStore.open(file)) {
                for (int i = 0; i < rows.tensors().size(); i++) {
                    assertSameRows(whole.tensor(i), rows, i, random);
                }
            }
        }
    }

    private static void assertSameRows(Tensor whole, TensorStore store, int index, SplittableRandom random) {
        TensorSpec spec = store.tensors().get(index);
        long rows = spec.rank() == 0 ? 1 : spec.dim(0);
        Span span = new Span();
        for (int i = 0; i < 20 && rows > 0; i++) {
            long first = random.nextLong(rows);
            long count = i % 2 == 0 ? 1 : random.nextLong(rows - first + 1);
            store.locate(index, first, count, span);
            assertEquals(count * spec.rowBytes(), span.byteSize());
            assertEquals(-1, span.slice().mismatch(
                    whole.segment().asSlice(first * spec.rowBytes(), span.byteSize())), () -> spec + " in " + store);
        }
    }
}
