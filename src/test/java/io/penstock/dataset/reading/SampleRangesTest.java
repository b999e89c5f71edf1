// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.TokenWindows;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the bytes of samples are, for those who read ahead. */
class SampleRangesTest {

    private static final long[] ALL = LongStream.range(0, 100).toArray();

    @TempDir
    private Path folder;

    private static List<Long> offsets(Dataset dataset) {
        List<Long> offsets = new ArrayList<>();
        var ranges = new SampleRanges(dataset, (_, offset, _) -> offsets.add(offset));
        ranges.locate(ALL, ALL.length);
        ranges.locate(ALL, 1);
        return offsets;
    }

    @Test
    void samplesInAFileAreGivenInTheirOrder() throws IOException {
        Path file = Files.write(folder.resolve("tokens.bin"), new byte[2 * 801]);
        try (TokenStore store = TokenStore.open(file, "nanogpt")) {
            List<Long> expected = new ArrayList<>(LongStream.of(ALL).map(window -> window * 16).boxed().toList());
            expected.add(0L);
            assertEquals(expected, offsets(TokenWindows.of(store, 8)));
        }
    }

    /** Else the values of all samples to come would be computed by the first worker that reads ahead, or at open. */
    @Test
    void aFieldThatIsComputedWhenItIsLocatedIsLocatedOnceAndNotGiven() throws IOException {
        var made = new AtomicInteger();
        Dataset generated = Dataset.generate(ALL.length, List.of(new TensorSpec("x", DType.I64, 8)), "counted",
                (_, _, _) -> made.incrementAndGet());
        try (Cached cached = generated.cache("x")) {
            assertEquals(List.of(), offsets(cached));
            assertEquals(1, made.get());
        }
    }
}
