// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.fail;

import io.penstock.io.publish.Folder;
import io.penstock.testing.Folders;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * HDF5 files with some bytes changed are read or refused. Without instrumentation this runs many more inputs a second
 * than coverage-guided fuzzing does: {@code -Dpenstock.fuzz.mutations=1000000} gives it as many.
 */
@Tag("slow")
class Hdf5MutationTest {

    private static final long SEED = Long.getLong("penstock.fuzz.seed", 20261121);
    private static final int MUTATIONS = Thorough.times("penstock.fuzz.mutations", 15, 60) * 5;
    /** Numbers that sizes, counts and addresses go wrong with. */
    private static final long[] NUMBERS = {0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0xFFFF, 0x7FFFFFFFL,
        0x80000000L, 0xFFFFFFFFL, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE, -1, -2};

    @Test
    void changedFilesAreReadOrRefused() throws IOException {
        List<byte[]> seeds = Hdf5Fuzz.TARGET.seeds().stream().filter(seed -> seed.length > 0).toList();
        SplittableRandom random = new SplittableRandom(SEED);
        Path folder = Folders.inMemory();
        try {
            for (int i = 0; i < MUTATIONS; i++) {
                byte[] input = mutated(seeds.get(random.nextInt(seeds.size())), random);
                try {
                    assertTimeoutPreemptively(Duration.ofMinutes(10), () -> Hdf5Fuzz.TARGET.run(input, folder));
                } catch (Exception | Error e) {
                    Path kept = Files.createTempFile("mutation-", ".h5");
                    Files.write(kept, input);
                    fail("seed " + SEED + ", mutation " + i + ", kept as " + kept, e);
                }
            }
        } finally {
            Folder.delete(folder);
        }
    }

    private static byte[] mutated(byte[] original, SplittableRandom random) {
        byte[] bytes = original.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            // What is at the start of a file or of a group's structures matters most.
            int at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 2048));
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt();
                case 2, 3 -> {
                    long number = random.nextInt(4) == 0 ? random.nextInt(bytes.length)
                            : NUMBERS[random.nextInt(NUMBERS.length)];
                    for (int b = 0; b < 1 << random.nextInt(4) && at + b < bytes.length; b++) {
                        bytes[at + b] = (byte) (number >> 8 * b);
                    }
                }
                default -> {
                    int from = random.nextInt(bytes.length);
                    int length = Math.min(random.nextInt(1, 64), bytes.length - Math.max(at, from));
                    System.arraycopy(bytes.clone(), from, bytes, at, length);
                }
            }
        }
        return random.nextInt(50) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
    }
}
