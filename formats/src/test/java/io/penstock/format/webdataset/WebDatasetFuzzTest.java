// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.Fixtures;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.RecordStore;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever is done to a tar, it is read or refused by an {@link IOException} of one line that names it. Headers that
 * are changed get their checksum again, most of the time: otherwise that is all that is ever found wrong.
 */
@Tag("slow")
class WebDatasetFuzzTest {

    private static final long SEED = Long.getLong("penstock.fuzz.seed", 20261121);
    private static final int MUTATIONS = Thorough.times("penstock.fuzz.mutations", 15, 60);

    @TempDir
    private static Path folder;

    @TestFactory
    Stream<DynamicTest> mutatedTarsAreReadOrRefused() throws IOException {
        return Fixtures.entries("webdataset").map(entry -> DynamicTest.dynamicTest(entry.toString(),
                () -> Assertions.assertTimeoutPreemptively(Duration.ofMinutes(10), () -> fuzz(entry))));
    }

    private static void fuzz(Entry entry) throws IOException {
        SplittableRandom random = new SplittableRandom(SEED ^ entry.toString().hashCode());
        byte[] bytes = Files.readAllBytes(entry.path());
        Path target = folder.resolve(entry.path().getFileName());
        for (int i = 0; i < MUTATIONS; i++) {
            Files.write(target, mutate(bytes, random));
            try {
                use(target);
            } catch (IOException | UncheckedIOException | PenstockException e) {
                assertFalse(e.getMessage().contains("\n"), e.getMessage());
                assertTrue(e.getMessage().contains(target.toString()), e.getMessage());
            } catch (RuntimeException | Error e) {
                fail("seed " + SEED + ", mutation " + i + " of " + target, e);
            }
        }
    }

    private static byte[] mutate(byte[] original, SplittableRandom random) {
        byte[] bytes = original.clone();
        for (int n = random.nextInt(4); n >= 0; n--) {
            int header = random.nextInt(Math.max(1, bytes.length / 512)) * 512;
            int at = random.nextInt(3) == 0 ? random.nextInt(bytes.length)
                    : Math.min(bytes.length - 1, header + random.nextInt(512));
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> Arrays.fill(bytes, at, Math.min(bytes.length, at + random.nextInt(20)),
                        (byte) random.nextInt(-1, 2));
                case 3 -> bytes = Arrays.copyOf(bytes, Math.max(1, random.nextInt(bytes.length + 600)));
                default -> System.arraycopy(original, random.nextInt(Math.max(1, original.length - 32)), bytes,
                        Math.max(0, Math.min(at, bytes.length - 32)), Math.min(bytes.length, Math.min(32,
                                original.length)));
            }
            if (random.nextInt(4) > 0 && header + 512 <= bytes.length) {
                seal(bytes, header);
            }
        }
        return bytes;
    }

    private static void seal(byte[] bytes, int header) {
        Arrays.fill(bytes, header + 148, header + 156, (byte) ' ');
        int sum = 0;
        for (int i = header; i < header + 512; i++) {
            sum += bytes[i] & 0xFF;
        }
        byte[] digits = String.format("%06o", sum).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        System.arraycopy(digits, 0, bytes, header + 148, 6);
        bytes[header + 154] = 0;
    }

    private static void use(Path path) throws IOException {
        Inspection.of(path, Depth.CONTENT);
        try (RecordStore store = RecordStore.open(path)) {
            Span span = new Span();
            for (long record = 0; record < store.size(); record++) {
                store.name(record);
                for (int c = 0; c < store.columns().size(); c++) {
                    if (store.isPresent(record, c)) {
                        store.locate(record, c, span);
                        span.slice();
                    }
                }
            }
        }
        try (PartitionReader reader = WebDatasetSource.of(ShardList.of(Location.of(path)), "txt", "cls")
                .skippingIncomplete().open(0, ""); RecordBuffer records = new RecordBuffer()) {
            while (reader.poll(records) == PartitionReader.Found.RECORD) {
                records.clear();
            }
        }
    }
}
