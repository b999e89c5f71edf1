// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.format.webdataset.WebDatasetWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Writes the benchmarks' WebDataset: 8 shards of 2,000 samples, each of 20,000 random bytes ({@code bin}) and a label
 * ({@code cls}), 330 MB.
 */
public final class WebDatasetShards {

    /** Samples of a batch, on all sides. */
    static final int BATCH = 64;
    static final int SAMPLE_BYTES = 20_000;

    private static final int SHARDS = 8;
    private static final int SHARD_SAMPLES = 2000;

    private WebDatasetShards() {
    }

    /** Takes the folder. */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        Files.createDirectories(folder);
        SplittableRandom random = new SplittableRandom(0);
        byte[] bytes = new byte[SAMPLE_BYTES];
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("bench-%06d.tar"), SHARD_SAMPLES,
                Long.MAX_VALUE)) {
            for (int i = 0; i < SHARDS * SHARD_SAMPLES; i++) {
                random.nextBytes(bytes);
                writer.write(String.format(Locale.ROOT, "%06d", i), Map.of("bin", MemorySegment.ofArray(bytes), "cls",
                        MemorySegment.ofArray(Integer.toString(i % 1000).getBytes(StandardCharsets.US_ASCII))));
            }
            writer.commit();
        }
    }
}
