// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files and indexes with changed bytes: a frame or a reason, no more. {@code -Dpenstock.mutations=N} tries more, and
 * {@code -Dpenstock.mutations.seed=S} others.
 */
final class MutatedFilesTest {

    private static final int MUTATIONS = Integer.getInteger("penstock.mutations", 30);
    private static final int SEED = Integer.getInteger("penstock.mutations.seed", 0);
    private static final DecoderLimits LIMITS = new DecoderLimits(1_000_000, 1000);

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    @ParameterizedTest
    @ValueSource(strings = {"h264-bframes.mp4", "h264-vfr.mkv", "hevc-opengop.mp4", "vp9-altref.webm", "av1.mp4",
        "mpeg4-asp.mp4", "h264-fragmented.mp4", "h264-editlist.mp4", "h264-interlaced.mp4", "h264-odd444.mp4",
        "h264-rotate90.mp4", "hevc-10bit.mp4", "vp9-sizechange.webm", "h264-aac.mp4"})
    void aMutatedFileGivesFramesOrAReason(String name) throws IOException {
        byte[] original = VideoFixture.resource(name);
        var random = new Random(name.hashCode() + SEED);
        int frames = 0;
        for (int mutation = 0; mutation < MUTATIONS; mutation++) {
            byte[] changed = mutated(original, random);
            MemorySegment file = MemorySegment.ofArray(changed);
            frames += read(VideoIndexer.index(file, LIMITS), file, random);
        }
        assertTrue(frames > 0, "some mutated files have frames");
    }

    @ParameterizedTest
    @ValueSource(strings = {"flac-s16-16k-mono.flac", "flac-s16-44k-stereo.ogg", "vorbis-44k-stereo.ogg",
        "opus-16k-mono.opus", "mp3-16k-mono-mpeg2.mp3", "aac-44k-stereo.m4a", "pcm-s16be.aiff", "h264-aac.mp4"})
    void mutatedSoundGivesSamplesOrAReason(String name) throws IOException {
        byte[] original = VideoFixture.resource(name);
        byte[] index = SoundIndexer.index(MemorySegment.ofArray(original), LIMITS);
        var random = new Random(name.hashCode() + SEED);
        int good = 0;
        for (int mutation = 0; mutation < MUTATIONS; mutation++) {
            byte[] changed = mutated(original, random);
            MemorySegment file = MemorySegment.ofArray(changed);
            good += readSound(SoundIndexer.index(file, LIMITS), file, random);
            // The index of the file before it changed, and a changed index.
            readSound(index, file.byteSize() == original.length ? file : MemorySegment.ofArray(original), random);
            byte[] other = index.clone();
            for (int i = random.nextInt(4); i >= 0; i--) {
                other[random.nextInt(4) == 0 ? random.nextInt(IndexEntry.HEADER_BYTES) : random.nextInt(other.length)] =
                        (byte) random.nextInt();
            }
            good += readSound(other, MemorySegment.ofArray(original), random);
        }
        assertTrue(good > 0, "some changes do no harm");
    }

    private static int readSound(byte[] index, MemorySegment file, Random random) throws IOException {
        try (var reader = new SoundClipReader(5000)) {
            MemorySegment entry = MemorySegment.ofArray(index);
            SoundTable table = reader.load(entry, 0, index.length);
            if (table.fileBytes != file.byteSize()) {
                return 0;
            }
            int count = 1 + random.nextInt(Math.min(table.samples, 5000));
            int first = random.nextInt(table.samples - count + 1);
            MemorySegment out = MemorySegment.ofArray(new float[table.channels * count]);
            reader.read(entry, 0, file, 0, first, count, out, 0, 4L * count);
            return 1;
        } catch (CodecException e) {
            assertTrue(!String.valueOf(e.getMessage()).isEmpty());
            return 0;
        }
    }

    private static byte[] mutated(byte[] original, Random random) {
        byte[] changed = random.nextInt(8) == 0
                ? Arrays.copyOf(original, random.nextInt(original.length)) : original.clone();
        for (int i = random.nextInt(30); i >= 0 && changed.length > 0; i--) {
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        return changed;
    }

    @Test
    void aMutatedIndexGivesFramesOrAReason() throws IOException {
        MemorySegment file = VideoFixture.of("h264-odd444.mp4").bytes();
        byte[] original = VideoIndexer.index(file, LIMITS);
        var random = new Random(3 + SEED);
        int frames = 0;
        for (int mutation = 0; mutation < 20 * MUTATIONS; mutation++) {
            byte[] changed = original.clone();
            int from = random.nextBoolean() ? 0 : PacketTable.HEADER_BYTES;
            int to = from == 0 ? PacketTable.HEADER_BYTES : changed.length;
            for (int i = random.nextInt(4); i >= 0; i--) {
                changed[from + random.nextInt(to - from)] = (byte) random.nextInt();
            }
            frames += read(changed, file, random);
        }
        assertTrue(frames > 0, "some changes do no harm");
    }

    /** Lengths whose sum exceeds 31 bits. */
    @Test
    void anIndexWithGreatLengthsIsRefused() throws IOException {
        MemorySegment file = VideoFixture.of("h264-odd444.mp4").bytes();
        byte[] index = VideoIndexer.index(file, LIMITS);
        ByteBuffer.wrap(index).order(ByteOrder.LITTLE_ENDIAN).putInt(60, Integer.MAX_VALUE)
                .putInt(64, Integer.MAX_VALUE);
        assertEquals(0, read(index, file, new Random(1)));
    }

    private static int read(byte[] index, MemorySegment file, Random random) throws IOException {
        try (var reader = new ClipReader(LIMITS, 500, true)) {
            MemorySegment entry = MemorySegment.ofArray(index);
            PacketTable table = reader.load(entry, 0, index.length);
            if (table.frames == 0 || table.fileBytes != file.byteSize()) {
                return 0;
            }
            int[] given = new int[1];
            reader.read(entry, 0, file, 0, new int[] {random.nextInt(table.frames)}, 1, (_, _) -> given[0]++);
            return given[0];
        } catch (CodecException e) {
            assertTrue(!String.valueOf(e.getMessage()).isEmpty());
            return 0;
        }
    }
}
