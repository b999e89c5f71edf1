// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.codec.decoder.Lz4;
import io.penstock.error.CodecException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** LZ4's frames and blocks: the first bytes say which, and how large the target is. */
final class Lz4Fuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new Lz4Fuzz();

    private static final int HEAD_BYTES = 3;
    private static final byte GUARD = 0x5A;
    private static final int GUARD_BYTES = 32;

    private Lz4Fuzz() {
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        byte[] block = {0, 20, 0, 0x44, 'a', 'b', 'c', 'd', 4, 0, (byte) 0x80, 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'};
        try (Stream<Path> files = Files.list(Path.of("src/test/resources/lz4"))) {
            List<Path> frames = files.filter(file -> file.toString().endsWith(".lz4")).sorted().toList();
            List<byte[]> seeds = new ArrayList<>(List.of(block));
            for (Path frame : frames) {
                byte[] bytes = Files.readAllBytes(frame);
                byte[] seed = new byte[HEAD_BYTES + bytes.length];
                seed[0] = 1;
                seed[1] = (byte) 4096;
                seed[2] = (byte) (4096 >> Byte.SIZE);
                System.arraycopy(bytes, 0, seed, HEAD_BYTES, bytes.length);
                seeds.add(seed);
            }
            return seeds;
        }
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        if (input.length < HEAD_BYTES) {
            return;
        }
        int size = Byte.toUnsignedInt(input[1]) | Byte.toUnsignedInt(input[2]) << Byte.SIZE;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(input.length - HEAD_BYTES + 1L)
                    .asSlice(0, input.length - HEAD_BYTES);
            MemorySegment.copy(input, HEAD_BYTES, source, ValueLayout.JAVA_BYTE, 0, input.length - HEAD_BYTES);
            MemorySegment all = arena.allocate(size + GUARD_BYTES).fill(GUARD);
            try {
                if ((input[0] & 1) == 0) {
                    Lz4.decompressBlock(source, all.asSlice(0, size));
                } else {
                    Lz4.decompress(source, all.asSlice(0, size));
                }
            } catch (CodecException e) {
                StoreOracle.requireOneLine(e.getMessage());
            }
            for (int i = 0; i < GUARD_BYTES; i++) {
                if (all.get(ValueLayout.JAVA_BYTE, size + i) != GUARD) {
                    throw new AssertionError("written behind the target");
                }
            }
        }
    }
}
