// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection.Depth;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever is done to a store's files, opening them reads them or throws an {@link IOException}: no other exception, no
 * access out of bounds, no memory that the files' size does not explain. What opens is consistent in itself.
 */
@Tag("slow")
class StoreFuzzTest {

    private static final long SEED = Long.getLong("penstock.fuzz.seed", 20261121);
    private static final int MUTATIONS = Thorough.times("penstock.fuzz.mutations", 15, 60);

    @TempDir
    private static Path folder;

    @TestFactory
    Stream<DynamicTest> mutatedFilesAreReadOrRefused() throws IOException {
        return Fixtures.entries(Fixtures.TOKENS_AND_NPY).map(entry -> DynamicTest.dynamicTest(entry.toString(),
                () -> Assertions.assertTimeoutPreemptively(Duration.ofMinutes(10), () -> fuzz(entry))));
    }

    private static void fuzz(Entry entry) throws IOException {
        SplittableRandom random = new SplittableRandom(SEED ^ entry.toString().hashCode());
        Path home = Files.createDirectories(folder.resolve(entry.toString().replace('/', '_')));
        List<Path> files = entry.files();
        for (Path file : files) {
            Files.copy(file, home.resolve(file.getFileName()));
        }
        Path opened = home.resolve(entry.path().getFileName());
        for (int i = 0; i < MUTATIONS; i++) {
            Path original = files.get(random.nextInt(files.size()));
            Path target = home.resolve(original.getFileName());
            byte[] bytes = Files.readAllBytes(original);
            Files.write(target, mutate(bytes, random));
            try {
                use(opened, entry.kind());
            } catch (IOException | PenstockException e) {
                assertFalse(e.getMessage().contains("\n"), e.getMessage());
                assertTrue(e.getMessage().contains(home.toString()), e.getMessage());
            } catch (RuntimeException | Error e) {
                fail("seed " + SEED + ", mutation " + i + " of " + target, e);
            }
            Files.write(target, bytes);
        }
    }

    private static void use(Path path, String kind) throws IOException {
        Span span = new Span();
        if (kind.equals("npy")) {
            Inspection.of(path, Depth.CONTENT);
            try (TensorStore store = TensorStore.open(path)) {
                var spec = store.tensors().getFirst();
                store.locate(0, 0, spec.rank() == 0 ? 1 : spec.dim(0), span);
                assertEquals(spec.byteSize(), span.byteSize());
                assertEquals(span.byteSize(), span.slice().byteSize());
            }
            return;
        }
        try (TokenStore store = TokenStore.open(path)) {
            long previous = 0;
            for (long d = 0; d <= store.documentCount(); d++) {
                long start = store.documentStart(d);
                assertTrue(start >= previous);
                previous = start;
            }
            assertEquals(store.tokenCount(), previous);
            long bytes = 0;
            for (int part = 0; part < store.parts(0, store.tokenCount()); part++) {
                store.locatePart(0, store.tokenCount(), part, span);
                bytes += span.slice().byteSize();
            }
            assertEquals(store.tokenCount() * store.dtype().byteSize(), bytes);
            assertFalse(store.fingerprint().isEmpty());
            Inspection.of(Location.of(path), store, Depth.CONTENT, Progress.NONE);
        }
    }

    private static byte[] mutate(byte[] original, SplittableRandom random) {
        byte[] bytes = original.clone();
        for (int i = random.nextInt(3); i >= 0; i--) {
            bytes = mutateOnce(bytes, random);
        }
        return bytes;
    }

    private static byte[] mutateOnce(byte[] bytes, SplittableRandom random) {
        if (bytes.length == 0) {
            return new byte[random.nextInt(64)];
        }
        // Headers are small and what is in them matters most.
        int at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 130));
        switch (random.nextInt(7)) {
            case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bytes[at] = (byte) random.nextInt();
            case 2 -> {
                byte[] extremes = {0, -1, 1, 127, -128, '9', '-', '(', '\''};
                Arrays.fill(bytes, at, Math.min(bytes.length, at + 1 + random.nextInt(9)),
                        extremes[random.nextInt(extremes.length)]);
            }
            case 3 -> {
                return Arrays.copyOf(bytes, at);
            }
            case 4 -> {
                return Arrays.copyOf(bytes, bytes.length + random.nextInt(1, 100));
            }
            case 5 -> {
                int end = Math.min(bytes.length, at + random.nextInt(1, 40));
                byte[] cut = Arrays.copyOf(bytes, bytes.length - (end - at));
                System.arraycopy(bytes, end, cut, at, bytes.length - end);
                return cut;
            }
            default -> {
                int from = random.nextInt(bytes.length);
                int length = Math.min(random.nextInt(1, 64), bytes.length - Math.max(at, from));
                System.arraycopy(bytes.clone(), from, bytes, at, length);
            }
        }
        return bytes;
    }
}
