// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;

/** Small numbers, one per value, read in order. */
@FunctionalInterface
interface Levels {

    /** Reads the next levels into the start of an array; fails if there are fewer. */
    void read(int[] into, int count);

    /** Tells whether the next levels are all this one, if that is known without reading them. */
    default boolean areAll(int level, int count) {
        return false;
    }

    /**
     * Returns a reader of the older encoding of levels: all of one width, the highest bit first, without gaps. Source:
     * {@code Encodings.md} of apache/parquet-format, encoding BIT_PACKED.
     */
    static Levels bitPacked(PageBytes in, int bits) {
        long[] bit = {0};
        long start = in.at;
        return (into, count) -> {
            if (bit[0] + (long) count * bits > (in.end - start) * 8) {
                throw new CodecException("levels: " + (in.end - start) + " bytes, where more values have some");
            }
            for (int i = 0; i < count; i++) {
                int level = 0;
                for (int b = 0; b < bits; b++, bit[0]++) {
                    int octet = in.segment.get(java.lang.foreign.ValueLayout.JAVA_BYTE, start + (bit[0] >>> 3));
                    level = level << 1 | octet >>> 7 - (int) (bit[0] & 7) & 1;
                }
                into[i] = level;
            }
        };
    }
}
