// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.penstock.error.CodecException;
import io.penstock.internal.Scratch;
import io.penstock.internal.Sha256;
import io.penstock.media.ffmpeg.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Demuxer;
import io.penstock.media.ffmpeg.SoundReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes the index of the sound of a file: where its packets are, how many samples each gives, which samples are cut,
 * and where decoding can begin. For that it decodes the file from its start, and again from some packets before each
 * entry; an entry is proven if both give the same samples up to the next entry.
 */
final class SoundIndexer implements AutoCloseable {

    private static final Set<String> CODECS = Set.of("flac", "alac", "mp3", "mp2", "aac", "opus", "vorbis", "ac3",
            "eac3");
    /** A packet's position may be that of a block around it, whose header has the sizes of laced packets. */
    private static final int MAX_BLOCK_HEADER = 600;
    /** How far samples of a codec whose state fades may differ. */
    private static final float TOLERANCE = 2e-5f;
    private static final double OPUS_SECONDS = 0.5;
    private static final int MP3_PACKETS = 29;
    private static final int PACKETS = 10;

    private final MemorySegment file;
    private final DecoderLimits limits;
    private final SoundTable table = new SoundTable();
    private final @Nullable OggPackets ogg;
    private final Demuxer demuxer;
    private final String codec;
    private final byte[] extradata;
    private final Decoder whole;
    private final Decoder alone;
    /** What decodes clips of the file instead of FFmpeg's decoder; null if that does. */
    private final @Nullable FlacReader flac;
    private final Samples expected = new Samples();
    private final Samples found = new Samples();
    /** Samples to leave out that are still to come; and the end of what is kept, -1 before. */
    private long pending;
    private long kept = -1;
    private boolean isCut;

    private SoundIndexer(MemorySegment file, DecoderLimits limits, SoundReader head) throws IOException {
        this.file = file;
        this.limits = limits;
        ogg = OggPackets.is(file) ? new OggPackets(file) : null;
        table.fileBytes = file.byteSize();
        table.rate = head.rate();
        table.channels = head.channels();
        demuxer = Demuxer.open(file, Demuxer.Kind.SOUND);
        Decoder opened = null;
        try {
            codec = requireKnown(demuxer.codec());
            extradata = demuxer.extradata();
            opened = Decoder.uncut(demuxer);
            alone = Decoder.ofSound(codec, MemorySegment.ofArray(extradata), table.rate, table.channels);
            whole = opened;
            flac = flac();
        } catch (Throwable t) {
            if (opened != null) {
                opened.close();
            }
            demuxer.close();
            throw t;
        }
    }

    private @Nullable FlacReader flac() {
        var reader = new FlacReader();
        return codec.equals("flac") && reader.takes(MemorySegment.ofArray(extradata), 0, extradata.length,
                table.channels) ? reader : null;
    }

    /** Returns the name of a codec whose packets have their samples to themselves. */
    static String requireKnown(String codec) throws CodecException {
        if (!codec.startsWith("pcm_") && !CODECS.contains(codec)) {
            throw new CodecException("sound of the codec '" + codec + "'", "PCM or one of " + CODECS);
        }
        return codec;
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
        try (SoundReader head = SoundReader.open(file)) {
            if (head.next() == 0) {
                throw new CodecException("sound of 0 samples", "some");
            }
            try (var indexer = new SoundIndexer(file, limits, head)) {
                return indexer.run(digest, head);
            }
        } catch (CodecException e) {
            return IndexEntry.refusal(file.byteSize(), digest, String.valueOf(e.getMessage()));
        }
    }

    private byte[] run(byte[] digest, SoundReader head) throws IOException {
        boolean isExact = codec.startsWith("pcm_") || codec.equals("flac") || codec.equals("alac");
        int every = 1;
        int block = 0;
        int inBlock = 0;
        boolean more = demuxer.next();
        while (more) {
            int packet = add();
            whole.send(demuxer);
            receive(packet);
            requireFrame(packet);
            if (packet == 0) {
                table.before = isExact ? 0 : before(table.start[1]);
                every = isExact ? 1 : Math.max(8, table.before + 2);
            }
            more = demuxer.next();
            if (!more) {
                whole.drain();
                receive(packet);
            }
            if (++inBlock == every || !more) {
                prove(block, !more);
                block = table.pieces;
                inBlock = 0;
                expected.clear();
            }
        }
        if (!isCut) {
            throw new CodecException("sound of 0 samples", "some");
        }
        long count = SoundDecoder.length(head, kept - table.cut);
        table.samples = Math.toIntExact(count);
        return table.encode(digest, codec, extradata);
    }

    private int before(int samples) {
        return switch (codec) {
            case "mp3" -> MP3_PACKETS;
            case "opus" -> (int) Math.ceil(OPUS_SECONDS * table.rate / Math.max(samples, table.rate / 400));
            case "vorbis" -> 2;
            default -> PACKETS;
        };
    }

    /** Adds the demuxer's packet and returns its first piece. */
    private int add() throws CodecException {
        int first = table.pieces;
        if (first >= limits.maxPackets()) {
            throw new CodecException("over " + first + " packets", "at most as many");
        }
        if (demuxer.isCorrupt()) {
            throw new CodecException("packet " + first + " is not complete", "a whole file");
        }
        if (ogg == null) {
            add(find(first), demuxer.size(), 0);
            return first;
        }
        do {
            if (!ogg.next()) {
                throw new CodecException("a packet that is not in the pages of the file", "Ogg of one stream");
            }
        } while (!ogg.hasBytes(demuxer.data()));
        for (int i = 0; i < ogg.pieces; i++) {
            add(ogg.position[i], ogg.size[i], i == 0 ? 0 : SoundTable.CONTINUED);
        }
        return first;
    }

    private void add(long position, int size, int flags) {
        int i = table.pieces++;
        table.grow(table.pieces);
        table.position[i] = position;
        table.size[i] = size;
        table.flags[i] = (byte) flags;
        table.start[i + 1] = table.start[i];
    }

    private long find(int number) throws CodecException {
        int bytes = demuxer.size();
        long next = number == 0 ? 0 : table.position[number - 1] + table.size[number - 1];
        if (hasBytes(next, bytes)) {
            return next;
        }
        long from = demuxer.position();
        for (long at = Math.max(0, from); from >= 0 && at <= from + MAX_BLOCK_HEADER; at++) {
            if (hasBytes(at, bytes)) {
                return at;
            }
        }
        throw new CodecException("the bytes of packet " + number + " are not in the file as they are", "a file "
                + "without header stripping and encryption");
    }

    private boolean hasBytes(long at, int bytes) {
        return at + bytes <= file.byteSize()
                && MemorySegment.mismatch(file, at, at + bytes, demuxer.data(), 0, bytes) < 0;
    }

    /** Receives what the packet gives when all before it were decoded. */
    private void receive(int packet) throws CodecException {
        while (whole.receive()) {
            if (whole.isFlagged() || whole.hasErrors()) {
                throw new CodecException("a packet or frame of " + codec + " that is damaged", "none");
            }
            int count = whole.samples();
            long from = table.start[table.pieces];
            long to = from + count;
            if (to > Integer.MAX_VALUE) {
                throw new CodecException("over " + Integer.MAX_VALUE + " samples", "fewer");
            }
            for (int i = packet + 1; i <= table.pieces; i++) {
                table.start[i] = (int) to;
            }
            expected.add(whole, table.channels);
            keep(packet, from, to);
        }
    }

    /** Decodes a packet of FLAC as clips will: FFmpeg's decoder does not look at the CRC-16 of a frame. */
    private void requireFrame(int packet) throws CodecException {
        FlacReader reader = flac;
        if (reader != null) {
            int samples = reader.frame(table, packet, file, 0);
            int expected = table.start[table.pieces] - table.start[packet];
            if (samples != expected) {
                throw new CodecException("packet " + packet + " with a frame of " + samples + " samples", expected
                        + ", those of FFmpeg's decoder: one frame");
            }
        }
    }

    /** Leaves out what the file says, as FFmpeg's own decoding does. */
    private void keep(int packet, long from, long to) throws CodecException {
        pending = whole.cutFront() > 0 ? whole.cutFront() : pending;
        long skipped = Math.min(pending, to - from);
        pending -= skipped;
        long first = from + skipped;
        long end = to - Math.min(whole.cutBack(), to - first);
        if (demuxer.isDiscarded() || first >= end) {
            return;
        }
        if (!isCut) {
            isCut = true;
            table.cut = (int) first;
            table.time = TimeStamps.checkSamples((demuxer.hasPts() ? time(demuxer.pts()) : 0) + first
                    - table.start[packet]);
        } else if (first != kept) {
            throw new CodecException("sound that is cut in its middle", "sound that is cut at its ends");
        }
        kept = end;
    }

    /** Returns a packet's time in samples. */
    private long time(long pts) throws CodecException {
        int numerator = demuxer.timeBaseNumerator();
        int denominator = demuxer.timeBaseDenominator();
        if (numerator < 1 || denominator < 1) {
            throw new CodecException("a time base of " + numerator + "/" + denominator, "a positive one");
        }
        TimeStamps.check(pts, TimeStamps.end(numerator, denominator));
        return TimeStamps.sample(pts, numerator, denominator, table.rate, false);
    }

    /** Tries the entry at a packet: decodes it and those up to the end of the table from some packets before. */
    private void prove(int entry, boolean isLast) throws CodecException {
        table.flags[entry] |= SoundTable.ENTRY;
        if (entry == 0 && !isEqual(entry, isLast)) {
            throw new CodecException("sound whose packets do not decode by themselves", "sound that does");
        }
        // Of the first entry too: a decoder that was used before, and flushed, may keep something.
        alone.flush();
        if (isEqual(entry, isLast)) {
            table.flags[entry] |= SoundTable.PROVEN;
        }
    }

    private boolean isEqual(int entry, boolean isLast) {
        found.clear();
        boolean isRight = true;
        try {
            for (int i = table.back(entry, table.before); i < table.pieces; i = table.next(i)) {
                SoundClipReader.send(alone, table, i, file, 0);
                int before = found.count;
                isRight &= receiveAlone(i >= entry);
                boolean isWhole = i < entry || isLast
                        || found.count - before == table.start[table.next(i)] - table.start[i];
                isRight &= isWhole;
            }
            if (isLast) {
                alone.drain();
                isRight &= receiveAlone(true);
            }
        } catch (CodecException _) {
            return false;
        }
        return isRight && found.equals(expected, codec.equals("opus") ? TOLERANCE : 0);
    }

    private boolean receiveAlone(boolean isWanted) throws CodecException {
        boolean isGood = true;
        while (alone.receive()) {
            if (isWanted) {
                isGood &= !alone.isFlagged() && !alone.hasErrors();
                found.add(alone, table.channels);
            }
        }
        return isGood;
    }

    /** Samples of some frames, interleaved. */
    private static final class Samples implements AutoCloseable {

        private final Scratch memory = new Scratch();
        private float[] values = {};
        private int count;
        private int channels;

        void add(Decoder frame, int of) throws CodecException {
            channels = of;
            int more = frame.samples();
            MemorySegment block = memory.of(Math.max(1, (long) more * of * Float.BYTES));
            for (int channel = 0; channel < of; channel++) {
                frame.copySamples(channel, of, 0, more, block, (long) channel * Float.BYTES, (long) of * Float.BYTES);
            }
            int needed = Math.multiplyExact(Math.addExact(count, more), of);
            if (values.length < needed) {
                values = Arrays.copyOf(values, Math.max(needed, 2 * values.length));
            }
            MemorySegment.copy(block, JAVA_FLOAT, 0, values, count * of, more * of);
            count += more;
        }

        void clear() {
            count = 0;
        }

        boolean equals(Samples other, float tolerance) {
            boolean isEqual = count == other.count;
            for (int i = 0; isEqual && i < count * channels; i++) {
                isEqual = values[i] == other.values[i] || Math.abs(values[i] - other.values[i]) <= tolerance;
            }
            return isEqual;
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    @Override
    public void close() {
        expected.close();
        found.close();
        alone.close();
        whole.close();
        demuxer.close();
    }
}
