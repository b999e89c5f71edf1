// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Writes the benchmarks' store where there is no C compiler: byte for byte what {@code bench/native/limits.c} writes,
 * or its beginning.
 */
public final class TokenFile {
    private static final int BUFFER_WORDS = 1 << 20;
    private static final int TOKENS_PER_WORD = 4;

    private TokenFile() {
    }

    /** Takes the file and the number of tokens. */
    public static void main(String[] args) throws IOException {
        write(Path.of(args[0]), Long.parseLong(args[1]));
    }

    static void write(Path path, long tokens) throws IOException {
        Path temporary = path.resolveSibling(path.getFileName() + ".writing");
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_WORDS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel file = FileChannel.open(temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            long words = tokens / TOKENS_PER_WORD;
            for (long first = 0; first < words; first += BUFFER_WORDS) {
                buffer.clear();
                for (long i = first; i < Math.min(words, first + BUFFER_WORDS); i++) {
                    buffer.putLong(mix(i));
                }
                buffer.flip();
                while (buffer.hasRemaining()) {
                    file.write(buffer);
                }
            }
        }
        Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    }

    /** SplitMix64 (Steele, Lea, Flood 2014): word i of the stream of seed 0. */
    private static long mix(long i) {
        long z = (i + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
