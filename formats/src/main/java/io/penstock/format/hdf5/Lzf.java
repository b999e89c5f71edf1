// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;

/**
 * Decodes LZF, Marc Lehmann's LibLZF, as h5py's filter writes it.
 *
 * <p>A control byte below 32 precedes that many literal bytes plus one. Any other starts a copy of decoded bytes:
 *
 * <pre>
 *     lllooooo oooooooo             l + 2 bytes (l from 1 to 6), from o + 1 bytes back
 *     111ooooo llllllll oooooooo    l + 9 bytes
 * </pre>
 */
public final class Lzf {

    private static final int LITERALS = 32;
    private static final int LONG_COPY = 7;

    /** {@return the decoded size of a block; copies are not checked} */
    public static long decodedSize(MemorySegment source) {
        long size = 0;
        long at = 0;
        while (at < source.byteSize()) {
            int control = source.get(JAVA_BYTE, at++) & 0xFF;
            if (control < LITERALS) {
                at += control + 1;
                size += control + 1;
            } else {
                boolean isLong = control >> 5 == LONG_COPY;
                if (at + (isLong ? 2 : 1) > source.byteSize()) {
                    throw cut();
                }
                size += isLong ? LONG_COPY + 2 + (source.get(JAVA_BYTE, at) & 0xFF) : (control >> 5) + 2;
                at += isLong ? 2 : 1;
            }
        }
        if (at > source.byteSize()) {
            throw cut();
        }
        return size;
    }

    /** Decodes a block to exactly the target's size. */
    public static void decompress(MemorySegment source, MemorySegment target) {
        long size = decodedSize(source);
        if (size != target.byteSize()) {
            throw new CodecException("lzf: the block decodes to " + size + " bytes, expected " + target.byteSize());
        }
        long from = 0;
        long to = 0;
        while (from < source.byteSize()) {
            int control = source.get(JAVA_BYTE, from++) & 0xFF;
            if (control < LITERALS) {
                MemorySegment.copy(source, from, target, to, control + 1);
                from += control + 1;
                to += control + 1;
                continue;
            }
            int length = control >> 5;
            if (length == LONG_COPY) {
                length += source.get(JAVA_BYTE, from++) & 0xFF;
            }
            long back = ((control & 0x1F) << 8 | source.get(JAVA_BYTE, from++) & 0xFF) + 1;
            if (back > to) {
                throw new CodecException("lzf: a copy from " + back + " bytes back at byte " + to + " of the output");
            }
            // Byte by byte, because a copy may overlap its output and then repeats.
            for (long end = to + length + 2; to < end; to++) {
                target.set(JAVA_BYTE, to, target.get(JAVA_BYTE, to - back));
            }
        }
    }

    private static CodecException cut() {
        return new CodecException("lzf: the block is cut");
    }
}
