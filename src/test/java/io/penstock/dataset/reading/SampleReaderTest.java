// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.testing.Fields;
import io.penstock.testing.FileTokenStore;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.Plans;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SampleReaderTest {

    @TempDir
    Path folder;

    /** A dataset whose samples have as many bytes as it is told, whatever its field says. */
    private record Wrong(TensorSpec field, long bytes) implements Dataset {

        @Override
        public long size() {
            return 10;
        }

        @Override
        public List<TensorSpec> fields() {
            return List.of(field);
        }

        @Override
        public FieldSource source(int f) {
            return FieldSource.stored((_, into) -> into.set(MemorySegment.ofArray(new byte[100]), 0, bytes));
        }

        @Override
        public String fingerprint() {
            return "wrong";
        }
    }

    @ParameterizedTest
    @CsvSource({"5, 9, '9 bytes of x: u16[5], expected 10'", "5, 12, '12 bytes of x: u16[5], expected 10'",
        "-1, 7, '7 bytes of x: u16[*], expected a multiple of 2'"})
    void aDatasetThatGivesAnotherSizeThanItsFieldHasIsNamed(long length, long bytes, String found) {
        try (var in = new SampleReader(new Wrong(new TensorSpec("x", DType.U16, length), bytes), ReadMode.MMAP)) {
            assertEquals("sample 3 has " + found, assertThrows(IllegalStateException.class, () -> in.locate(3, 0))
                    .getMessage());
            assertEquals(3, in.sample());
        }
    }

    /** A map that opens sessions and counts those that are closed; it opens so many. */
    private static final class Sessions implements SampleMap {

        private final AtomicInteger closed = new AtomicInteger();
        private int left;

        Sessions(int most) {
            this.left = most;
        }

        @Override
        public void map(Tensor in, RandomGenerator random, Tensor out) {
            throw new AssertionError("there are sessions");
        }

        @Override
        public Optional<Mapper> open() {
            if (left-- == 0) {
                throw new IllegalStateException("no more sessions");
            }
            return Optional.of(new Mapper() {
                @Override
                public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random,
                        MemorySegment out, long outOffset, long outBytes, PartClock clock) {
                    MemorySegment.copy(in, inOffset, out, outOffset, outBytes);
                }

                @Override
                public void close() {
                    closed.incrementAndGet();
                }
            });
        }
    }

    @Test
    void aReaderThatCannotBeOpenedClosesWhatWasOpened() {
        TensorSpec field = new TensorSpec("x", DType.U8, 4);
        Sessions sessions = new Sessions(2);
        Dataset twice = new Wrong(field, 4).map("x", field, "first", sessions).map("x", field, "second", sessions);
        try (var in = new SampleReader(twice, ReadMode.MMAP)) {
            assertEquals(4, in.locate(0, 0).byteSize());
        }
        assertEquals(2, sessions.closed.get());
        Sessions one = new Sessions(1);
        Dataset failing = new Wrong(field, 4).map("x", field, "first", one).map("x", field, "second", one);
        assertThrows(IllegalStateException.class, () -> new SampleReader(failing, ReadMode.MMAP));
        assertEquals(1, one.closed.get());
    }

    @Test
    void rowsOfNoBytesAreSamplesOfNoBytes() {
        try (var in = new SampleReader(new Wrong(new TensorSpec("x", DType.U16, -1, 0), 0), ReadMode.MMAP)) {
            assertEquals(0, in.locate(0, 0).byteSize());
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void partsAndIntegersAreOfTheSpanThatIsGiven(ReadMode mode) throws IOException {
        try (var model = new MemoryTokenStore(DType.I16, 1000); var store = new FileTokenStore(folder, model);
                var in = new SampleReader(TokenWindows.of(store, 10), mode); Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(64);
            Span window = in.locate(7, 0);
            in.prefetch(3, 0);
            assertEquals((int) model.token(72), in.readIntegers(window, 5, DType.I16)[2]);
            in.copyPart(window, 4, 18, target, 1);
            in.copyPart(window, 20, 2, target, 40);
            Span expected = new Span();
            model.locate(72, 9, expected);
            assertEquals(-1, expected.segment().asSlice(expected.byteOffset(), 18).mismatch(target.asSlice(1, 18)));
            assertThrows(IndexOutOfBoundsException.class, () -> in.copyPart(window, 21, 2, target, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> in.copyPart(window, -1, 2, target, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> in.readIntegers(window, 12, DType.I16));
        }
    }

    /** A dataset without its sample 5. */
    private record Hole(Dataset whole) implements Dataset {

        @Override
        public long size() {
            return whole.size();
        }

        @Override
        public List<TensorSpec> fields() {
            return whole.fields();
        }

        @Override
        public FieldSource source(int field) {
            return FieldSource.stored((sample, into) -> {
                if (sample == 5) {
                    throw new IllegalStateException("unreadable");
                }
                Fields.locate(whole, sample, field, into);
            });
        }

        @Override
        public String fingerprint() {
            return "hole";
        }
    }

    @Test
    void theSampleThatFailsIsTheOneThatIsNamedAlsoWhenItIsFetchedAhead() {
        try (var store = new MemoryTokenStore(DType.I16, 1000); Arena arena = Arena.ofConfined();
                var in = new SampleReader(new Hole(TokenWindows.of(store, 10)), ReadMode.MMAP)) {
            MemorySegment target = arena.allocate(1000);
            assertThrows(IllegalStateException.class, () -> in.copyAll(Plans.of(7, 2, 5, 8), 0, target, 0));
            assertEquals(5, in.sample());
            in.locate(3, 0);
            assertThrows(IllegalStateException.class, () -> in.prefetch(5, 0));
            assertEquals(5, in.sample());
        }
    }

    @Test
    void theArrayOfIntegersGrowsByDoublingAndKeepsItsLength() {
        try (var store = new MemoryTokenStore(DType.U8, 5000);
                var in = new SampleReader(Documents.of(store), ReadMode.MMAP)) {
            Span document = in.locate(0, 0);
            int[] array = in.readIntegers(document, 1000, DType.U8);
            int arrays = 1;
            for (int count = 1; count <= 5000; count++) {
                int[] next = in.readIntegers(document, count, DType.U8);
                arrays += next == array ? 0 : 1;
                array = next;
                assertEquals((int) store.token(count - 1), array[count - 1]);
            }
            assertEquals(4, arrays, "1000, 2000, 4000 and 8000 long");
            assertSame(array, in.readIntegers(document, 3, DType.U8));
        }
    }

    @Test
    void integersOf64BitsAreNotReadIntoAnArrayOf32() {
        try (var store = new MemoryTokenStore(DType.I64, 10);
                var in = new SampleReader(Documents.of(store), ReadMode.MMAP)) {
            Span document = in.locate(0, 0);
            assertEquals("i64 does not fit 32-bit integers",
                    assertThrows(IllegalArgumentException.class, () -> in.readIntegers(document, 2, DType.I64))
                            .getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"U8", "I8", "U16", "I16", "U32", "I32"})
    void integersAreWidenedWithTheirSignOrWithoutAsTheyAreStored(DType dtype) {
        try (var store = new MemoryTokenStore(dtype, 5000);
                var in = new SampleReader(Documents.of(store), ReadMode.MMAP)) {
            boolean negative = false;
            for (int count : new int[] {0, 1, 2, 3, 7, 16, 33, 100, 4999, 5000, 17}) {
                long[] values = in.readLongs(in.locate(0, 0), count, dtype);
                for (int i = 0; i < count; i++) {
                    assertEquals(store.token(i), values[i], dtype + " " + i + " of " + count);
                    negative |= values[i] < 0;
                }
            }
            assertEquals(!dtype.isUnsigned(), negative, "the tokens of the test");
            assertThrows(IndexOutOfBoundsException.class, () -> in.readLongs(in.locate(0, 0), 5001, dtype));
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void samplesThatAreLocatedTogetherAreWhereEachIs(ReadMode mode) throws IOException {
        try (var model = new MemoryTokenStore(DType.U16, new long[] {0, 3, 3, 50, 3000, 3001});
                var store = new FileTokenStore(folder, model); var in = new SampleReader(Documents.of(store), mode)) {
            for (long[] batch : new long[][] {{4}, {3, 0, 1, 2, 3, 4}, {1, 1}, {}}) {
                in.locateAll(batch.length == 0 ? new BatchPlan(1) : Plans.of(batch), 0);
                for (int i = batch.length - 1; i >= 0; i--) {
                    long start = model.documentStart(batch[i]);
                    long tokens = model.documentStart(batch[i] + 1) - start;
                    assertEquals(2 * tokens, in.locatedBytes(i));
                    Span found = in.located(i);
                    assertEquals(batch[i], in.sample());
                    assertEquals(2 * tokens, found.byteSize());
                    long[] values = in.readLongs(found, (int) tokens, DType.U16);
                    for (int t = 0; t < tokens; t++) {
                        assertEquals(model.token(start + t), values[t]);
                    }
                }
            }
        }
    }

    @Test
    void samplesThatAreLocatedTogetherStaySoWhileAnotherFieldIsLocated() {
        try (var store = new MemoryTokenStore(DType.U16, new long[] {0, 3, 5, 6})) {
            TensorSpec again = new TensorSpec("again", DType.U16, TensorSpec.VARIABLE);
            Dataset two = Documents.of(store).duplicate("tokens", "tokens", "first")
                    .map("first", again, "other values", (_, _, out) -> out.segment().fill((byte) 0x7F));
            try (var in = new SampleReader(two, ReadMode.AUTO)) {
                BatchPlan plan = Plans.of(2, 0, 1);
                in.locateAll(plan, 1);
                in.locateAll(plan, 0);
                for (int i = 0; i < 3; i++) {
                    long sample = plan.sample(i);
                    assertEquals(2 * (store.documentStart(sample + 1) - store.documentStart(sample)),
                            in.locatedBytes(i));
                    Span found = in.located(i);
                    assertEquals(in.locatedBytes(i), found.byteSize());
                    assertEquals(store.token(store.documentStart(sample)), in.readIntegers(found, 1, DType.U16)[0]);
                    in.locate(Plans.of(0), 0, 1);
                }
            }
        }
    }
}
