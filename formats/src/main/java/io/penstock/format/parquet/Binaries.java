// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/** Reads a page's values of variable size, in order. */
@FunctionalInterface
interface Binaries {

    /**
     * Appends the bytes of the next {@code count} values, at most {@link Numbers#TILE}, and stores their ends; fails if
     * there are fewer.
     */
    void read(NativeBuffer into, long[] ends, int count);

    /** Each value's length in 4 bytes, then its bytes. */
    static Binaries plain(PageBytes in) {
        return (into, ends, count) -> {
            for (int i = 0; i < count; i++) {
                long length = in.i32("a value's length") & 0xFFFFFFFFL;
                into.append(in.segment, in.take(length, "a value"), length);
                ends[i] = into.used();
            }
        };
    }

    /** Indices of a dictionary's entries; {@code tile} has room for those of a tile. */
    static Binaries dictionary(PageBytes in, Dictionary dictionary, int[] tile) {
        Levels indices = Numbers.indices(in, dictionary.count());
        MemorySegment starts = dictionary.starts();
        return (into, ends, count) -> {
            indices.read(tile, count);
            for (int i = 0; i < count; i++) {
                long start = starts.get(LittleEndian.I64, 8L * tile[i]);
                // The next entry's bytes start behind its length.
                long end = starts.get(LittleEndian.I64, 8L * tile[i] + 8) - Integer.BYTES;
                into.append(dictionary.entries(), start, end - start);
                ends[i] = into.used();
            }
        };
    }

    /** All lengths as differences, then all bytes. */
    static Binaries lengthsFirst(PageBytes in, long maxCount) {
        DeltaNumbers lengths = lengths(in, maxCount);
        long[] tile = new long[Numbers.TILE];
        return (into, ends, count) -> {
            lengths.read(tile, count);
            for (int i = 0; i < count; i++) {
                into.append(in.segment, in.take((int) tile[i], "a value"), (int) tile[i]);
                ends[i] = into.used();
            }
        };
    }

    /** For each value the length that it shares with the previous one, then the rest as {@link #lengthsFirst}. */
    static Binaries sharedStarts(PageBytes in, long maxCount) {
        DeltaNumbers shared = lengths(in, maxCount);
        DeltaNumbers lengths = lengths(in, maxCount);
        long[] sharedTile = new long[Numbers.TILE];
        long[] tile = new long[Numbers.TILE];
        NativeBuffer previous = new NativeBuffer();
        return new Binaries() {
            @Override
            public void read(NativeBuffer into, long[] ends, int count) {
                shared.read(sharedTile, count);
                lengths.read(tile, count);
                for (int i = 0; i < count; i++) {
                    long start = (int) sharedTile[i];
                    if (start < 0 || start > previous.used()) {
                        throw new CodecException("a value that shares " + start + " bytes with one of "
                                + previous.used());
                    }
                    int length = (int) tile[i];
                    long from = in.take(length, "the rest of a value");
                    into.append(previous.segment(), 0, start);
                    into.append(in.segment, from, length);
                    previous.truncate(start);
                    previous.append(in.segment, from, length);
                    ends[i] = into.used();
                }
            }

            @Override
            public void close() {
                previous.close();
            }
        };
    }

    /** Returns a reader of lengths; the page's position is then after them. */
    private static DeltaNumbers lengths(PageBytes in, long maxCount) {
        PageBytes own = in.rest();
        DeltaNumbers ahead = new DeltaNumbers(in);
        if (ahead.count() > maxCount) {
            throw new CodecException("lengths of " + ahead.count() + " values, where the page has " + maxCount);
        }
        ahead.skipRest();
        return new DeltaNumbers(own);
    }

    default void close() {
    }
}
