// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RecordBufferTest {

    private static byte[] record(int number, int bytes) {
        byte[] record = new byte[bytes];
        Arrays.fill(record, (byte) number);
        return record;
    }

    @Test
    void memoryForWhatIsExpectedDoesNotGrowAgain() {
        try (RecordBuffer records = new RecordBuffer()) {
            MemorySegment memory = MemorySegment.NULL;
            for (int i = 0; i < 800; i++) {
                records.add(record(i, 990 + i % 20), 0, 990 + i % 20);
                if (i == 99) {
                    records.expect(800);
                    memory = records.bytes();
                }
                assertTrue(i < 99 || memory == records.bytes(), "grown at record " + i);
            }
            records.expect(800);
            assertSame(memory, records.bytes());
            for (int i = 0; i < 800; i++) {
                assertArrayEquals(record(i, 990 + i % 20), records.record(i).toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    @Test
    void aFewLargeRecordsDoNotTakeAllMemory() {
        try (RecordBuffer records = new RecordBuffer()) {
            records.expect(1000);
            byte[] large = record(1, 1 << 20);
            records.add(large, 0, large.length);
            records.expect(1 << 20);
            assertTrue(records.bytes().byteSize() <= 1 << 28, records.bytes().byteSize() + " bytes");
            assertArrayEquals(large, records.record(0).toArray(ValueLayout.JAVA_BYTE));
        }
    }
}
