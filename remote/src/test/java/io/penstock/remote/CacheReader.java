// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** A process that reads an object of {@link ObjectHost#bytes} at random places, and says whether all was right. */
public final class CacheReader {

    private static final int PIECE = 1000;

    private CacheReader() {
    }

    /**
     * Arguments: URL, cache, limit, block bytes, object bytes, seed of the object, seed of the order, reads, percent of
     * requests that may be sent twice.
     */
    public static void main(String[] args) throws Exception {
        RemoteSettings settings = RemoteSettings.of(Map.of()).withCache(Path.of(args[1]), Long.parseLong(args[2]))
                .withBlockBytes(Integer.parseInt(args[3]))
                .withRequests(RequestSettings.DEFAULT.withHedges(Integer.parseInt(args[8])));
        byte[] expected = ObjectHost.bytes(Integer.parseInt(args[4]), Long.parseLong(args[5]));
        Random random = new Random(Long.parseLong(args[6]));
        try (MappedFile file = RemoteFiles.of(settings, Map.of()).locate(args[0]).open();
                SpanReader reader = new SpanReader(ReadMode.AUTO); Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(PIECE);
            Span span = new Span();
            for (int i = 0; i < Integer.parseInt(args[7]); i++) {
                int offset = random.nextInt(expected.length - PIECE);
                span.set(file, offset, PIECE);
                reader.copy(span, copy, 0);
                for (int at = 0; at < PIECE; at++) {
                    if (copy.get(ValueLayout.JAVA_BYTE, at) != expected[offset + at]) {
                        System.out.println("wrong at " + (offset + at));
                        return;
                    }
                }
            }
            System.out.println("right");
        }
    }
}
