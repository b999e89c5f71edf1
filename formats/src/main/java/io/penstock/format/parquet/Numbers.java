// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/** Reads a page's values of fixed size, in order, packed and little-endian. */
@FunctionalInterface
interface Numbers {

    /** The most values of one call. */
    int TILE = 4096;

    /** Reads the next {@code count} values, at most {@link #TILE}; fails if there are fewer. */
    void read(MemorySegment into, long at, int count);

    /** Consecutive values. */
    static Numbers plain(PageBytes in, int width) {
        return (into, at, count) -> {
            long bytes = (long) count * width;
            MemorySegment.copy(in.segment, in.take(bytes, "values"), into, at, bytes);
        };
    }

    /** Booleans, 8 per byte, the lowest bit first. */
    static Numbers plainBooleans(PageBytes in) {
        long[] bit = {0};
        return (into, at, count) -> {
            if (bit[0] + count > in.left() * 8) {
                throw new CodecException("booleans: " + in.left() + " bytes, too few for the values");
            }
            for (int i = 0; i < count; i++, bit[0]++) {
                int octet = in.segment.get(JAVA_BYTE, in.at + (bit[0] >>> 3));
                into.set(JAVA_BYTE, at + i, (byte) (octet >>> (int) (bit[0] & 7) & 1));
            }
        };
    }

    /** Booleans in runs, after their size in bytes. */
    static Numbers runsOfBooleans(PageBytes in) {
        RunLengths runs = new RunLengths(in.part(in.i32("truth values"), "truth values"), 1, "truth values");
        int[] tile = new int[TILE];
        return (into, at, count) -> {
            runs.read(tile, count);
            for (int i = 0; i < count; i++) {
                into.set(JAVA_BYTE, at + i, (byte) tile[i]);
            }
        };
    }

    /** Entries of a dictionary; {@code tile} has room for the indices of a tile. */
    static Numbers dictionary(PageBytes in, Dictionary dictionary, int width, int[] tile) {
        Levels indices = indices(in, dictionary.count());
        MemorySegment entries = dictionary.entries();
        return switch (width) {
            case Integer.BYTES -> (into, at, count) -> {
                indices.read(tile, count);
                for (int i = 0; i < count; i++) {
                    into.set(LittleEndian.I32, at + 4L * i, entries.get(LittleEndian.I32, 4L * tile[i]));
                }
            };
            case Long.BYTES -> (into, at, count) -> {
                indices.read(tile, count);
                for (int i = 0; i < count; i++) {
                    into.set(LittleEndian.I64, at + 8L * i, entries.get(LittleEndian.I64, 8L * tile[i]));
                }
            };
            default -> (into, at, count) -> {
                indices.read(tile, count);
                for (int i = 0; i < count; i++) {
                    MemorySegment.copy(entries, (long) width * tile[i], into, at + (long) width * i, width);
                }
            };
        };
    }

    /** Returns the indices of a data page's values: a byte with their width, then runs. */
    static Levels indices(PageBytes in, long entryCount) {
        String called = "indices of a dictionary";
        if (in.left() == 0) {
            return (_, count) -> {
                if (count > 0) {
                    throw new CodecException(called + ": none, where there are values");
                }
            };
        }
        RunLengths runs = new RunLengths(in, in.u8(called), called);
        return (into, count) -> {
            runs.read(into, count);
            int greatest = 0;
            for (int i = 0; i < count; i++) {
                greatest |= into[i];
            }
            // One check for all of them: no index exceeds the disjunction of all.
            if (greatest < 0 || greatest >= entryCount) {
                checkIndices(into, count, entryCount);
            }
        };
    }

    private static void checkIndices(int[] indices, int count, long entryCount) {
        for (int i = 0; i < count; i++) {
            if (indices[i] < 0 || indices[i] >= entryCount) {
                throw new CodecException("index " + (indices[i] & 0xFFFFFFFFL) + " of a dictionary of " + entryCount
                        + " entries");
            }
        }
    }

    static Numbers differences(PageBytes in, int width) {
        DeltaNumbers numbers = new DeltaNumbers(in);
        long[] tile = new long[TILE];
        return (into, at, count) -> {
            numbers.read(tile, count);
            if (width == Integer.BYTES) {
                for (int i = 0; i < count; i++) {
                    into.set(LittleEndian.I32, at + 4L * i, (int) tile[i]);
                }
            } else {
                MemorySegment.copy(tile, 0, into, LittleEndian.I64, at, count);
            }
        };
    }

    /** The first bytes of all values, then the second ones, and so on. */
    static Numbers split(PageBytes in, int width) {
        long values = in.left() / width;
        if (values * width != in.left()) {
            throw new CodecException("split values: " + in.left() + " bytes, where each has " + width);
        }
        long[] next = {0};
        return (into, at, count) -> {
            if (count > values - next[0]) {
                throw new CodecException("split values: " + values + ", where the page has more");
            }
            for (int b = 0; b < width; b++) {
                long from = in.at + b * values + next[0];
                long to = at + b;
                for (int i = 0; i < count; i++, to += width) {
                    into.set(JAVA_BYTE, to, in.segment.get(JAVA_BYTE, from + i));
                }
            }
            next[0] += count;
        };
    }

    /** Values of one length that share their start with the previous one. */
    static Numbers ofBinaries(Binaries binaries, int width) {
        long[] ends = new long[TILE];
        return (into, at, count) -> {
            try (NativeBuffer buffer = new NativeBuffer()) {
                binaries.read(buffer, ends, count);
                for (int i = 0; i < count; i++) {
                    if (ends[i] != (i + 1L) * width) {
                        throw new CodecException("a value of another length than " + width + " bytes");
                    }
                }
                MemorySegment.copy(buffer.segment(), 0, into, at, buffer.used());
            }
        };
    }
}
