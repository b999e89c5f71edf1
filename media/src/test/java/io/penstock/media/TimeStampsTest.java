// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Time stamps near and behind the end of what is taken. */
final class TimeStampsTest {

    private static final int MOST = Integer.MAX_VALUE;

    private static BigInteger floor(BigInteger value, BigInteger by) {
        return value.subtract(value.mod(by)).divide(by);
    }

    @Test
    void samplesAreThoseOfLargeIntegers() {
        var random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            int numerator = random.nextInt(4) == 0 ? MOST : 1 + random.nextInt(1 << random.nextInt(31));
            int denominator = random.nextInt(4) == 0 ? MOST : 1 + random.nextInt(1 << random.nextInt(31));
            int rate = random.nextInt(4) == 0 ? MOST : 1 + random.nextInt(1 << random.nextInt(31));
            long end = TimeStamps.end(numerator, denominator);
            long pts = random.nextInt(4) == 0 ? end - 1 : random.nextLong(end);
            pts = random.nextBoolean() ? pts : -pts;
            TimeStamps.check(pts, end);
            BigInteger units = BigInteger.valueOf(pts).multiply(BigInteger.valueOf(2L * numerator))
                    .multiply(BigInteger.valueOf(rate));
            BigInteger by = BigInteger.valueOf(2L * denominator);
            String what = pts + " * " + numerator + " / " + denominator + ", " + rate;
            assertEquals(floor(units, by).longValueExact(),
                    TimeStamps.sample(pts, numerator, denominator, rate, false), what);
            assertEquals(floor(units.add(BigInteger.valueOf(denominator)), by).longValueExact(),
                    TimeStamps.sample(pts, numerator, denominator, rate, true), what);
        }
    }

    private static PacketTable twoFrames(long first, long second) {
        var table = new PacketTable();
        table.fileBytes = 100;
        table.numerator = 1;
        table.denominator = 1000;
        table.packets = 2;
        table.frames = 2;
        table.grow(2);
        table.pts[0] = first;
        table.pts[1] = second;
        table.packetOf[1] = 1;
        return table;
    }

    private static PacketTable load(byte[] index) {
        var table = new PacketTable();
        table.load(MemorySegment.ofArray(index), 0, index.length);
        return table;
    }

    @Test
    void framesAreChosenByTimesThatAreFarApart() {
        long most = TimeStamps.end(1, 1000) - 1;
        PacketTable table = load(twoFrames(-most, most).encode(new byte[32], "h264", new byte[0]));
        for (int fps : new int[] {1, 30, MOST}) {
            assertEquals(1, new ClipTimes(2, 0, fps, TooShort.REFUSE).starts(table), "a clip of 2 frames, " + fps);
        }
    }

    @Test
    void anIndexWithAFarTimeStampIsRefused() {
        for (long pts : new long[] {TimeStamps.end(1, 1000), Long.MAX_VALUE, Long.MIN_VALUE, -1L << 62}) {
            byte[] index = twoFrames(0, pts).encode(new byte[32], "h264", new byte[0]);
            assertTrue(String.valueOf(assertThrows(CodecException.class, () -> load(index)).getMessage())
                    .startsWith("a packet at the time stamp " + pts));
        }
    }

    /** A fragment says its time in 64 bits, which are changed here. */
    @Test
    void aFarTimeStampIsRefusedWhenTheIndexIsMade() throws IOException {
        Ffmpeg.assume();
        byte[] file = VideoFixture.resource("h264-fragmented.mp4");
        int at = new String(file, StandardCharsets.ISO_8859_1).indexOf("tfdt") + 8;
        assertEquals(0, ByteBuffer.wrap(file).getLong(at));
        ByteBuffer.wrap(file).putLong(at, 1L << 60);
        byte[] index = VideoIndexer.index(MemorySegment.ofArray(file), DecoderLimits.DEFAULT);
        String reason = String.valueOf(assertThrows(CodecException.class, () -> load(index)).getMessage());
        assertTrue(reason.startsWith("a packet at the time stamp 11529"), reason);
    }
}
