// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * The values that data pages of a column chunk refer to.
 *
 * @param entries the values: numbers, consecutive; bytes, each after its length
 * @param starts the start of each entry of bytes, and one more, 4 after the last one's end; empty for numbers
 */
record Dictionary(MemorySegment entries, long count, MemorySegment starts) {

    static Dictionary ofNumbers(PageBytes in, long count, int width) {
        if (count < 0 || count > in.left() / width) {
            throw new CodecException("a dictionary of " + count + " entries in " + in.left() + " bytes");
        }
        return new Dictionary(in.segment.asSlice(in.at, count * width), count, MemorySegment.NULL);
    }

    static Dictionary ofBinaries(PageBytes in, long count, SegmentAllocator memory) {
        if (count < 0 || count > in.left() / Integer.BYTES) {
            throw new CodecException("a dictionary of " + count + " entries in " + in.left() + " bytes");
        }
        MemorySegment starts = memory.allocate((count + 1) * Long.BYTES, Long.BYTES);
        for (long i = 0; i < count; i++) {
            long length = in.i32("an entry's length") & 0xFFFFFFFFL;
            starts.set(LittleEndian.I64, 8 * i, in.take(length, "an entry"));
        }
        starts.set(LittleEndian.I64, 8 * count, in.at + Integer.BYTES);
        return new Dictionary(in.segment, count, starts);
    }
}
