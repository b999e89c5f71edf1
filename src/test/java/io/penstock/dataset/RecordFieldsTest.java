// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.decode.Decoder;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecordFieldsTest {

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static MemoryRecordStore store() {
        return new MemoryRecordStore(List.of(Column.text("txt", "txt"), Column.bytes("cls", "cls")),
                new byte[][] {utf8("one"), utf8("1")}, new byte[][] {utf8(""), utf8("22")},
                new byte[][] {null, utf8("3")}, new byte[][] {utf8("four"), utf8("x")});
    }

    /** Repeats a value's bytes as often as it is long; refuses an {@code x}. Counts its open sessions. */
    private record Repeat(AtomicInteger openSessions) implements Decoder {

        @Override
        public TensorSpec field(Column column) {
            return new TensorSpec(column.name(), DType.U8, TensorSpec.VARIABLE);
        }

        @Override
        public Session open() {
            openSessions.incrementAndGet();
            return new Session() {
                @Override
                public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
                    if (storedBytes > 0 && stored.get(ValueLayout.JAVA_BYTE, 0) == 'x') {
                        throw new IOException("found an x, expected a digit");
                    }
                    return storedBytes * storedBytes;
                }

                @Override
                public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                        long targetBytes) {
                    for (long i = 0; i < targetBytes; i++) {
                        target.set(ValueLayout.JAVA_BYTE, targetOffset + i,
                                stored.get(ValueLayout.JAVA_BYTE, i % storedBytes));
                    }
                }

                @Override
                public void close() {
                    openSessions.decrementAndGet();
                }
            };
        }
    }

    private static String text(Span span) {
        return new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @Test
    void aColumnIsAFieldAsItIsStoredOrThroughADecoder() {
        AtomicInteger sessions = new AtomicInteger();
        try (var store = store()) {
            RecordFields fields = RecordFields.of(store).and("cls", new Repeat(sessions)).and("txt");
            assertEquals(List.of("cls", "txt"), fields.fields().stream().map(TensorSpec::name).toList());
            try (SampleReader reader = new SampleReader(fields, ReadMode.AUTO); Arena arena = Arena.ofConfined()) {
                assertEquals(1, sessions.get());
                assertEquals("one", text(reader.locate(0, 1)));
                assertEquals("2222", text(reader.locate(1, 0)));
                assertEquals(4, reader.byteSize(1, 0));
                MemorySegment target = arena.allocate(8);
                target.fill((byte) '.');
                assertEquals(4, reader.copy(1, 0, target, 2));
                assertArrayEquals(utf8("..2222.."), target.toArray(ValueLayout.JAVA_BYTE));
            }
            assertEquals(0, sessions.get());
        }
    }

    @Test
    void aValueThatIsNotThereOrMalformedIsAnErrorThatNamesTheRecordAndTheField() {
        try (var store = store()) {
            RecordFields fields = RecordFields.of(store).and("txt").and("cls", new Repeat(new AtomicInteger()));
            try (SampleReader reader = new SampleReader(fields, ReadMode.AUTO)) {
                String missing = assertThrows(UncheckedIOException.class, () -> reader.locate(2, 0)).getMessage();
                assertTrue(missing.contains("record number 2 has no txt"), missing);
                assertEquals(2, reader.sample());
                String malformed = assertThrows(BadSampleException.class, () -> reader.byteSize(3, 1)).getMessage();
                assertTrue(malformed.contains("record number 3, field 'cls': found an x, expected a digit"), malformed);
            }
        }
    }

    @Test
    void completeLeavesOutRecordsThatLackAFieldAndKeepsTheOrder() {
        try (var store = store()) {
            RecordFields texts = RecordFields.of(store).and("txt").complete();
            assertEquals(3, texts.size());
            assertEquals(List.of(0L, 1L, 3L), List.of(texts.record(0), texts.record(1), texts.record(2)));
            assertEquals("record number 3", texts.name(2));
            assertThrows(IndexOutOfBoundsException.class, () -> texts.record(3));
            assertEquals(4, texts.maxLength(0));
            RecordFields classes = RecordFields.of(store).and("cls");
            assertSame(classes, classes.complete());
            assertEquals(2, classes.maxLength(0));
        }
    }

    @Test
    void aFieldThatIsAddedToCompleteRecordsBringsNoneBack() {
        try (var store = store()) {
            RecordFields both = RecordFields.of(store).and("txt").complete().and("cls");
            assertEquals(List.of(0L, 1L, 3L), List.of(both.record(0), both.record(1), both.record(2)));
            assertEquals(3, both.size());
            assertEquals(RecordFields.of(store).and("txt").and("cls").complete().fingerprint(), both.fingerprint());
        }
    }

    @Test
    void theFingerprintTellsFieldsDecodersAndSelectionsApart() {
        try (var store = store()) {
            var decoder = new Repeat(new AtomicInteger());
            RecordFields plain = RecordFields.of(store).and("txt");
            assertEquals(plain.fingerprint(), RecordFields.of(store).and("txt").fingerprint());
            assertNotEquals(plain.fingerprint(), RecordFields.of(store).and("txt", decoder).fingerprint());
            assertNotEquals(plain.fingerprint(), RecordFields.of(store).and("cls").fingerprint());
            assertNotEquals(plain.fingerprint(), plain.complete().fingerprint());
        }
    }

    @Test
    void aColumnThatIsNotThereOrChosenTwiceIsRefused() {
        try (var store = store()) {
            String message = assertThrows(IllegalArgumentException.class,
                    () -> RecordFields.of(store).and("jpg")).getMessage();
            assertTrue(message.contains("'jpg'") && message.contains("[txt, cls]"), message);
            assertThrows(IllegalArgumentException.class, () -> RecordFields.of(store).and("txt").and("txt"));
            assertThrows(IllegalStateException.class, () -> RecordFields.of(store).fields());
        }
    }

    @Test
    void aSelectionGivesTheNthOfWhateverIsChosen() {
        long seed = 20261121;
        var random = new SplittableRandom(seed);
        for (int round = 0; round < 200; round++) {
            int limit = random.nextInt(1, 4 * Selection.BLOCK_BITS);
            double share = random.nextDouble() * random.nextDouble();
            List<Long> expected = new ArrayList<>();
            boolean sparse = random.nextBoolean();
            for (long i = 0; i < limit; i++) {
                boolean hole = sparse && i / Selection.BLOCK_BITS % 2 == 1;
                if (!hole && random.nextDouble() < share) {
                    expected.add(i);
                }
            }
            Set<Long> chosen = new HashSet<>(expected);
            Selection selection = Selection.of(limit, chosen::contains);
            assertEquals(expected.size(), selection.size(), "seed " + seed + ", round " + round);
            for (int n = 0; n < expected.size(); n++) {
                assertEquals(expected.get(n), selection.get(n), "seed " + seed + ", round " + round);
            }
            assertThrows(IndexOutOfBoundsException.class, () -> selection.get(expected.size()));
        }
    }
}
