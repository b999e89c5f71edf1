// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** HDF5's variant of Fletcher's checksum: big-endian 16-bit words; an odd last byte is a word's upper half. */
final class Fletcher32 {

    /** The sums of so many words stay below 2^32. */
    private static final int BLOCK_WORDS = 360;

    static int of(byte[] bytes, int length) {
        long sum1 = 0;
        long sum2 = 0;
        int at = 0;
        int words = length / 2;
        while (words > 0) {
            int block = Math.min(words, BLOCK_WORDS);
            words -= block;
            for (; block > 0; block--, at += 2) {
                sum1 += (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
                sum2 += sum1;
            }
            sum1 = folded(sum1);
            sum2 = folded(sum2);
        }
        if (length % 2 != 0) {
            sum1 = folded(sum1 + ((bytes[at] & 0xFF) << 8));
            sum2 = folded(sum2 + sum1);
        }
        return (int) (folded(sum2) << 16 | folded(sum1));
    }

    private static long folded(long sum) {
        return (sum & 0xFFFF) + (sum >>> 16);
    }
}
