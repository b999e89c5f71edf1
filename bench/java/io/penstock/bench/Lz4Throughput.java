// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.codec.decoder.Lz4;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** Decodes an LZ4 frame beside a copy of what it decodes to, by turns, in CPU time: {@code --frame F --bytes N}. */
public final class Lz4Throughput {

    private static final int ROUNDS = 40;
    private static final int WARMUP = 10;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Lz4Throughput() {
    }

    /** The frame's file, and the bytes that it decodes to. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = LoaderThroughput.options(args);
        byte[] packed = Files.readAllBytes(Path.of(options.get("frame")));
        long bytes = Long.parseLong(options.get("bytes"));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(packed.length);
            MemorySegment.copy(packed, 0, source, ValueLayout.JAVA_BYTE, 0, packed.length);
            MemorySegment plain = arena.allocate(bytes, 64);
            MemorySegment copy = arena.allocate(bytes, 64);
            double decode = Double.MAX_VALUE;
            double move = Double.MAX_VALUE;
            for (int round = -WARMUP; round < ROUNDS; round++) {
                long begin = THREADS.getCurrentThreadCpuTime();
                Lz4.decompress(source, plain);
                long middle = THREADS.getCurrentThreadCpuTime();
                copy.copyFrom(plain);
                long end = THREADS.getCurrentThreadCpuTime();
                decode = Math.min(decode, middle - begin);
                move = Math.min(move, end - middle);
            }
            System.out.printf(Locale.ROOT, "%d bytes to %d: lz4 %.0f MB/s, copy %.0f MB/s%n", packed.length, bytes,
                    bytes * 1e3 / decode, bytes * 1e3 / move);
        }
    }
}
