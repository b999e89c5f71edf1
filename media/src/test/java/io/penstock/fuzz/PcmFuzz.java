// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.CodecException;
import io.penstock.media.sound.PcmReader;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Uncompressed sound: refused, not known, or samples that lie in the file, the same however they are read. */
final class PcmFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new PcmFuzz();

    private static final long MOST_SAMPLES = 1 << 12;

    private final PcmReader reader = new PcmReader();

    private PcmFuzz() {
    }

    @Override
    public int maxBytes() {
        return 8 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        for (Path file : Folders.files(Path.of("media/src/test/resources/sound/pcm"))) {
            seeds.add(Files.readAllBytes(file));
        }
        return seeds;
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment file = arena.allocate(Math.max(1, input.length)).asSlice(0, input.length)
                    .copyFrom(MemorySegment.ofArray(input));
            boolean isRead;
            try {
                isRead = reader.open(file, input.length);
            } catch (CodecException e) {
                if (!String.valueOf(e.getMessage()).startsWith("at byte ")) {
                    throw new AssertionError("a refusal without its position", e);
                }
                return;
            }
            if (isRead) {
                check(arena, input.length);
            }
        }
    }

    private void check(Arena arena, long fileBytes) {
        long samples = reader.samples();
        long width = 4L * reader.channels();
        if (reader.rate() < 1 || samples < 0 || samples * reader.channels() > fileBytes) {
            throw new AssertionError(samples + " samples at " + reader.rate() + " in " + fileBytes + " bytes");
        }
        long count = Math.min(samples, MOST_SAMPLES);
        MemorySegment tail = arena.allocate(count * width);
        reader.read(samples - count, count, tail, 0);
        long half = count / 2;
        MemorySegment parts = arena.allocate(count * width);
        reader.read(samples - count, half, parts, 0);
        reader.read(samples - count + half, count - half, parts, half * width);
        if (tail.mismatch(parts) >= 0) {
            throw new AssertionError("a part differs from the whole");
        }
    }
}
