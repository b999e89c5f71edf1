// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.testing.Fields;
import io.penstock.testing.MemoryTokenStore;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ConcatenatedTest {

    private static List<Byte> bytes(Span span) {
        List<Byte> bytes = new ArrayList<>();
        for (long i = 0; i < span.byteSize(); i++) {
            bytes.add(span.segment().get(ValueLayout.JAVA_BYTE, span.byteOffset() + i));
        }
        return bytes;
    }

    @Test
    void samplesAreThoseOfTheFirstDatasetThenThoseOfTheNextOnesAsALoopOverThemFindsThem() {
        SplittableRandom random = new SplittableRandom(20261121);
        for (int round = 0; round < 50; round++) {
            List<MemoryTokenStore> stores = new ArrayList<>();
            List<Dataset> datasets = new ArrayList<>();
            List<List<Byte>> expected = new ArrayList<>();
            Span span = new Span();
            for (int i = random.nextInt(1, 7); i > 0; i--) {
                // Some stores are shorter than a window: they have no sample.
                MemoryTokenStore store = new MemoryTokenStore(DType.U16, random.nextInt(60));
                stores.add(store);
                Dataset windows = TokenWindows.of(store, 7);
                datasets.add(windows);
                for (long s = 0; s < windows.size(); s++) {
                    Fields.locate(windows, s, 0, span);
                    expected.add(bytes(span));
                }
            }
            Dataset all = datasets.getFirst().concat(datasets.stream().skip(1).toArray(Dataset[]::new));
            assertEquals(expected.size(), all.size());
            for (int s = 0; s < expected.size(); s++) {
                Fields.locate(all, s, 0, span);
                assertEquals(expected.get(s), bytes(span), "round " + round + ", sample " + s);
            }
            assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(all, all.size(), 0, span));
            assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(all, -1, 0, span));
            stores.forEach(MemoryTokenStore::close);
        }
    }

    @Test
    void theLongestSampleIsTheLongestOfAllAndNamesSayWhichDatasetTheyAreOf() {
        try (var a = new MemoryTokenStore(DType.U16, new long[] {0, 3, 5});
                var b = new MemoryTokenStore(DType.U16, new long[] {0, 1, 10})) {
            Dataset all = Documents.of(a).concat(Documents.of(b));
            assertEquals(4, all.size());
            assertEquals(9, all.maxLength(0));
            assertEquals("sample 1 of dataset 1", all.name(3));
            assertNull(((FieldSource.Stored) all.source(0)).rows());
            assertTrue(all.fingerprint().contains(Documents.of(a).fingerprint()), all.fingerprint());
        }
    }

    @Test
    void datasetsThatDifferInTheirFieldsAreRefusedAndOneAloneIsItself() {
        try (var a = new MemoryTokenStore(DType.U16, 100); var b = new MemoryTokenStore(DType.U32, 100)) {
            Dataset windows = TokenWindows.of(a, 10);
            assertSame(windows, windows.concat());
            for (Dataset other : List.of(TokenWindows.of(b, 10), TokenWindows.of(a, 11), Documents.of(a))) {
                String message = assertThrows(IllegalArgumentException.class,
                        () -> windows.concat(other)).getMessage();
                assertTrue(message.startsWith("dataset 1 has the fields"), message);
            }
        }
    }
}
