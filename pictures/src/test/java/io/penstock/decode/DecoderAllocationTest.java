// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.memory.DType;
import io.penstock.pictures.ImageDecoder;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** A decoder that is warm allocates nothing on the heap: JPEG by libturbojpeg, PNG, row-major arrays, digits, bytes. */
class DecoderAllocationTest {

    /** The JIT compiler decides when the code is warm: one of this many windows of values must allocate nothing. */
    private static final int WINDOWS = 600;
    private static final int VALUES = 512;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void jpegByLibturbojpeg() throws IOException {
        assumeTrue(JpegLibrary.preferred() == JpegLibrary.TURBOJPEG, "libturbojpeg is not there");
        check(ImageDecoder.rgb(ImageFit.exactly(24, 40)), "images/exif_orientation_6.jpg");
        check(ImageDecoder.of(ImageDecoding.rgb().upright().scaled(), ImageFit.shorterSide(20, 16, 12)),
                "images/exif_orientation_6.jpg");
        check(ImageDecoder.rgb(8, 8), "images/cmyk.jpg");
    }

    @Test
    void png() throws IOException {
        check(ImageDecoder.rgb(ImageFit.exactly(38, 45)), "images/interlaced_rgb.png");
        check(ImageDecoder.gray(16, 16), "images/palette_4bit_transparency.png");
    }

    @Test
    void arrays() throws IOException {
        byte[] npy = Files.readAllBytes(Fixtures.entries("npy").filter(e -> e.expect().equals("read")
                && e.arrays().getFirst().get("stored_dtype").equals("<f4")
                && e.arrays().getFirst().get("stored_order").equals("C")).findFirst().orElseThrow().path());
        check(Decoder.npyLike(npy), npy);
    }

    @Test
    void digitsAndBytes() throws IOException {
        check(Decoder.decimal(DType.I64), "-123456\n".getBytes(StandardCharsets.US_ASCII));
        check(Decoder.bytes(), "a text".getBytes(StandardCharsets.US_ASCII));
        check(Decoder.numbers(DType.F32, 2), new byte[8]);
    }

    private static void check(Decoder decoder, String fixture) throws IOException {
        check(decoder, Files.readAllBytes(Fixtures.path(fixture)));
    }

    private static void check(Decoder decoder, byte[] value) throws IOException {
        long thread = Thread.currentThread().threadId();
        long allocated = Long.MAX_VALUE;
        try (Arena arena = Arena.ofConfined(); Decoder.Session session = decoder.open()) {
            MemorySegment stored = arena.allocateFrom(ValueLayout.JAVA_BYTE, value);
            var spec = decoder.field(Column.bytes("x", ""));
            long bytes = spec.isVariable() ? session.byteSize(stored, value.length) : spec.byteSize();
            MemorySegment target = arena.allocate(bytes);
            for (int window = 0; window < WINDOWS && allocated >= VALUES; window++) {
                long before = THREADS.getThreadAllocatedBytes(thread);
                for (int i = 0; i < VALUES; i++) {
                    session.decode(stored, value.length, target, 0, bytes);
                }
                allocated = THREADS.getThreadAllocatedBytes(thread) - before;
            }
        }
        String about = decoder + ": " + allocated + " bytes in " + VALUES + " values";
        System.out.println(about);
        assertTrue(allocated < VALUES, about);
    }
}
