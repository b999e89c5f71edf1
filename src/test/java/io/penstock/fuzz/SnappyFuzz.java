// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.codec.decoder.Snappy;
import io.penstock.error.CodecException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Snappy's blocks: the size of what they decode to is the first byte of an input, times 16. */
final class SnappyFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new SnappyFuzz();

    private static final int UNIT = 16;

    private SnappyFuzz() {
    }

    @Override
    public List<byte[]> seeds() {
        byte[] literal = {1, 16, 15 << 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        byte[] copies = {2, 32, 7 << 2, 1, 2, 3, 4, 5, 6, 7, 8, 4 << 2 | 1, 8, 7 << 2 | 2, 3, 0, 7 << 2 | 3, 1, 0, 0,
            0};
        byte[] longLiteral = {1, 16, (byte) (60 << 2), 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        return List.of(literal, copies, longLiteral);
    }

    @Override
    public void run(byte[] input, Path folder) {
        if (input.length == 0) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(input.length - 1L);
            MemorySegment.copy(MemorySegment.ofArray(input), 1, source, 0, input.length - 1L);
            Snappy.decompress(source, arena.allocate((long) UNIT * (input[0] & 0xFF)));
        } catch (CodecException e) {
            StoreOracle.requireOneLine(e.getMessage());
        }
    }
}
