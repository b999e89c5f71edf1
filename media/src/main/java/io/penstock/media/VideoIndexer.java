// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.internal.Sha256;
import io.penstock.media.ffmpeg.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Demuxer;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** Makes the index of a video: where its packets are, which frames they have, and where decoding can begin. */
final class VideoIndexer {

    /** Codecs whose packets have one frame each, in these containers. */
    static final Set<String> CODECS = Set.of("h264", "hevc", "vp9", "vp8", "av1", "mpeg4");
    /** A packet's position may be that of a block around it, whose header is at most this long. */
    private static final int MAX_BLOCK_HEADER = 16;

    private final MemorySegment file;
    private final DecoderLimits limits;
    private final PacketTable table = new PacketTable();
    /** Whether a frame was flagged. */
    private boolean isDamaged;

    private VideoIndexer(MemorySegment file, DecoderLimits limits) {
        this.file = file;
        this.limits = limits;
    }

    /**
     * Makes an entry of an index.
     *
     * @param file the file's bytes
     * @param limits what it may ask for
     * @return the entry; that of a file that cannot be used has the reason
     * @throws IOException if FFmpeg is missing or unusable
     */
    static byte[] index(MemorySegment file, DecoderLimits limits) throws IOException {
        MessageDigest sha256 = Sha256.digest();
        Sha256.update(sha256, file);
        byte[] digest = sha256.digest();
        try {
            return new VideoIndexer(file, limits).run(digest);
        } catch (CodecException e) {
            return PacketTable.refusal(file.byteSize(), digest, String.valueOf(e.getMessage()));
        }
    }

    private byte[] run(byte[] digest) throws IOException {
        try (Demuxer demuxer = Demuxer.open(file, Demuxer.Kind.VIDEO)) {
            String codec = demuxer.codec();
            if (!CODECS.contains(codec)) {
                throw new CodecException("video of the codec '" + codec + "'", "one of " + CODECS);
            }
            byte[] extradata = demuxer.extradata();
            table.fileBytes = file.byteSize();
            table.numerator = demuxer.timeBaseNumerator();
            table.denominator = demuxer.timeBaseDenominator();
            table.rotation = demuxer.rotation();
            if (table.numerator < 1 || table.denominator < 1) {
                throw new CodecException("a time base of " + table.numerator + "/" + table.denominator,
                    "a positive one");
            }
            read(demuxer, new CleanKey(codec, extradata));
            order();
            try (Decoder decoder = Decoder.of(demuxer, limits)) {
                prove(decoder);
            }
            return table.encode(digest, codec, extradata);
        }
    }

    private void read(Demuxer demuxer, CleanKey clean) throws IOException {
        long declared = demuxer.declaredPackets();
        long end = TimeStamps.end(table.numerator, table.denominator);
        int count = 0;
        while (demuxer.next()) {
            if (count == limits.maxPackets()) {
                throw new CodecException("over " + count + " packets", "at most as many");
            }
            if (!demuxer.hasPts()) {
                throw new CodecException("packet " + count + " without a time stamp", "a file with time stamps "
                        + "(convert it to MP4 or Matroska)");
            }
            if (demuxer.isCorrupt()) {
                throw new CodecException("packet " + count + " is not complete", "a whole file");
            }
            TimeStamps.check(demuxer.pts(), end);
            table.grow(count + 1);
            table.position[count] = find(demuxer, count);
            table.size[count] = demuxer.size();
            table.pts[count] = demuxer.pts();
            table.dts[count] = demuxer.dts();
            table.flags[count] = (byte) ((demuxer.isDiscarded() ? PacketTable.DISCARDED : 0)
                    | (demuxer.isKey() ? PacketTable.KEY : 0)
                    | (demuxer.isKey() && clean.is(demuxer.data()) ? PacketTable.CLEAN : 0));
            count++;
        }
        if (count == 0 || count < declared) {
            throw new CodecException("a file with " + count + " packets of video", Math.max(1, declared)
                    + " as it says itself");
        }
        table.packets = count;
    }

    private long find(Demuxer demuxer, int number) {
        int bytes = demuxer.size();
        long from = demuxer.position();
        for (long at = Math.max(0, from); from >= 0 && at <= from + MAX_BLOCK_HEADER
                && at + bytes <= file.byteSize(); at++) {
            if (MemorySegment.mismatch(file, at, at + bytes, demuxer.data(), 0, bytes) < 0) {
                return at;
            }
        }
        throw new CodecException("the bytes of packet " + number + " are not in the file as they are", "a file "
                + "without lacing, header stripping and encryption");
    }

    /** Numbers the frames in the order of their time stamps. */
    private void order() {
        Integer[] shown = IntStream.range(0, table.packets)
                .filter(i -> (table.flags[i] & PacketTable.DISCARDED) == 0).boxed().toArray(Integer[]::new);
        Arrays.sort(shown, (a, b) -> Long.compare(table.pts[a], table.pts[b]));
        table.frames = shown.length;
        for (int frame = 0; frame < shown.length; frame++) {
            table.packetOf[frame] = shown[frame];
            if (frame > 0 && table.pts[shown[frame]] == table.pts[shown[frame - 1]]) {
                throw new CodecException("two packets at the time " + table.pts[shown[frame]], "one frame each "
                        + "(interlaced fields, or packed frames?)");
            }
        }
    }

    /**
     * Tries the keys that do not show in their bytes that decoding can begin there: frames from there must equal those
     * of decoding from the start, up to the key after the next. Where decoding from the start gives frames that are
     * flagged, nothing is proven.
     */
    private void prove(Decoder decoder) {
        if (IntStream.range(1, table.packets).noneMatch(this::isOpen)) {
            return;
        }
        Map<Long, Long> expected = digests(decoder, 0, table.packets);
        if (isDamaged) {
            return;
        }
        for (int i = 1; i < table.packets; i++) {
            if (isOpen(i) && isProven(decoder, i, expected)) {
                table.flags[i] |= PacketTable.CLEAN | PacketTable.PROVEN;
            }
        }
    }

    private boolean isOpen(int packet) {
        return (table.flags[packet] & (PacketTable.KEY | PacketTable.CLEAN)) == PacketTable.KEY;
    }

    private boolean isProven(Decoder decoder, int key, Map<Long, Long> expected) {
        int end = nextKey(nextKey(key));
        Map<Long, Long> found = digests(decoder, key, end);
        for (int i = key; i < end; i++) {
            boolean isBehind = table.pts[i] >= table.pts[key];
            Long digest = expected.get(table.pts[i]);
            if (isBehind && (digest == null || !digest.equals(found.get(table.pts[i])))) {
                return false;
            }
        }
        return true;
    }

    private int nextKey(int packet) {
        int next = packet + 1;
        while (next < table.packets && (table.flags[next] & PacketTable.KEY) == 0) {
            next++;
        }
        return Math.min(next, table.packets);
    }

    /** Digests of the frames of these packets by time stamp, those before the first error. */
    private Map<Long, Long> digests(Decoder decoder, int from, int to) {
        Map<Long, Long> digests = new HashMap<>();
        try {
            for (int i = from; i < to; i++) {
                decoder.send(file, table.position[i], table.size[i], table.pts[i], table.dts[i],
                        (table.flags[i] & PacketTable.KEY) != 0);
                collect(decoder, digests);
            }
            decoder.drain();
            collect(decoder, digests);
        } catch (CodecException _) {
            // the keys stay unproven; a clip that needs these packets tells the error
            isDamaged = true;
        }
        decoder.flush();
        return digests;
    }

    private void collect(Decoder decoder, Map<Long, Long> digests) {
        while (decoder.receive()) {
            isDamaged |= decoder.hasErrors() || decoder.isFlagged();
            digests.put(decoder.pts(), KeyedRandom.hash(MemorySegment.ofArray(decoder.packed())));
        }
    }
}
