// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.internal.Scratch;
import io.penstock.media.ffmpeg.Decoder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Decodes runs of samples of files, by their indexes: FLAC of up to 24 bits in Java, all else by FFmpeg. A decoder of
 * FFmpeg is kept while codec and parameters stay the same, if its samples do not depend on what it decoded before. For
 * one thread.
 */
final class SoundClipReader implements AutoCloseable {

    /** An entry was not proven: decoding begins at the first packet, with a new decoder. */
    private static final int UNPROVEN = -1;

    private static final MemorySegment FLAC = MemorySegment.ofArray(new byte[] {'f', 'l', 'a', 'c'});

    private final int maxClipPackets;
    private final SoundTable table = new SoundTable();
    private final Scratch parameters = new Scratch();
    /** The bytes of the decoder's codec and parameters; -1 if another decoder is needed. */
    private long parameterBytes = -1;
    private int rate;
    private int channels;
    /** Whether the samples depend a little on all that was decoded before. */
    private boolean isFading;
    private @Nullable Decoder decoder;
    private final FlacReader flac = new FlacReader();
    /** Whether the file whose index was loaded is decoded by {@link #flac}. */
    private boolean isFlac;
    private long decodedPackets;
    private final PacketRuns runs = new PacketRuns();

    SoundClipReader(int maxClipPackets) {
        this.maxClipPackets = maxClipPackets;
    }

    /** Loads the index of a file and returns it, for this reader's next call. */
    SoundTable load(MemorySegment index, long offset, long bytes) throws CodecException {
        table.load(index, offset, bytes);
        long from = table.extradataOffset(offset);
        int extradata = table.extradataBytes(offset);
        long codec = offset + IndexEntry.HEADER_BYTES;
        isFlac = from - codec == FLAC.byteSize()
                && MemorySegment.mismatch(index, codec, from, FLAC, 0, FLAC.byteSize()) < 0
                && flac.takes(index, from, extradata, table.channels);
        long keyBytes = from + extradata - codec;
        if (keyBytes != parameterBytes || rate != table.rate || channels != table.channels
                || MemorySegment.mismatch(index, codec, codec + keyBytes, parameters.of(1), 0, keyBytes) >= 0) {
            parameterBytes = -1;
        }
        return table;
    }

    /** Whether the file whose index was loaded is decoded by the decoder of FFmpeg that there is. */
    boolean isKept() {
        return !isFlac && decoder != null && parameterBytes >= 0;
    }

    /** Whether the file whose index was loaded is decoded by FFmpeg. */
    boolean needsLibrary() {
        return !isFlac;
    }

    /** How many packets were sent to a decoder. */
    long decodedPackets() {
        return decodedPackets;
    }

    /** How many packets have some of these samples. */
    int packets(int first, int count) {
        int last = table.packetOf(table.cut + first + count - 1);
        int packets = 0;
        for (int i = table.packetOf(table.cut + first); i <= last; i = table.next(i)) {
            packets++;
        }
        return packets;
    }

    /** The bytes of the packets that must be decoded for samples; valid until the next call. */
    PacketRuns runs(int first, int count) {
        int last = table.next(table.packetOf(table.cut + first + count - 1)) - 1;
        int from = Math.max(0, startOf(table.packetOf(table.cut + first), last));
        runs.clear();
        for (int i = from; i <= last; i++) {
            runs.add(table.position[i], table.size[i]);
        }
        return runs;
    }

    /**
     * Decodes samples of the file whose index was loaded.
     *
     * @param index the index, as loaded
     * @param entry its first byte
     * @param file memory or a mapping with the file
     * @param offset the file's first byte
     * @param first the first sample, of those that are heard
     * @param count their number, 1 or more
     * @param out receives floats, a channel after the other
     * @param outOffset the first byte of the first channel
     * @param channelBytes the bytes from a channel to the next
     * @throws IOException if they cannot be decoded as decoding from the start gives them
     */
    void read(MemorySegment index, long entry, MemorySegment file, long offset, int first, int count,
            MemorySegment out, long outOffset, long channelBytes) throws IOException {
        int from = table.cut + first;
        int last = table.packetOf(from + count - 1);
        if (isFlac) {
            readFlac(file, offset, last, from, count, out, outOffset, channelBytes);
            return;
        }
        try {
            int begin = startOf(table.packetOf(from), last);
            if (begin == UNPROVEN || isFading) {
                // What a decoder keeps over a flush, such as the state of its noise, must be that of a new one.
                closeDecoder();
            }
            Decoder open = decoder(index, entry);
            decode(open, file, offset, Math.max(0, begin), last, from, count, out, outOffset, channelBytes);
            open.flush();
        } catch (Throwable t) {
            closeDecoder();
            throw t;
        }
    }

    /** The packet at which decoding begins: some before the last entry; {@link #UNPROVEN} for the first of all. */
    private int startOf(int first, int last) {
        int entry = first;
        while (entry > 0 && (table.flags[entry] & SoundTable.ENTRY) == 0) {
            entry--;
        }
        for (int i = entry; i <= last; i++) {
            if ((table.flags[i] & (SoundTable.ENTRY | SoundTable.PROVEN)) == SoundTable.ENTRY) {
                return UNPROVEN;
            }
        }
        return table.back(entry, table.before);
    }

    /** A frame of FLAC is decoded by itself. */
    private void readFlac(MemorySegment file, long offset, int last, int from, int count, MemorySegment out,
            long outOffset, long channelBytes) throws CodecException {
        int first = table.packetOf(from);
        checkPackets(first, last);
        for (int i = first; i <= last;) {
            int end = table.next(i);
            decodedPackets++;
            int samples = flac.frame(table, i, file, offset);
            int start = table.start[i];
            checkYield(samples, table.start[end] - start);
            int begin = Math.max(0, from - start);
            int stop = Math.min(samples, from + count - start);
            long at = outOffset + (long) (start + begin - from) * Float.BYTES;
            for (int channel = 0; channel < table.channels; channel++) {
                flac.copy(channel, begin, stop, out, at + channel * channelBytes);
            }
            i = end;
        }
    }

    /** Counts each piece of a packet as one: what is read grows with pieces. */
    private void checkPackets(int first, int last) throws CodecException {
        int count = table.next(last) - first;
        if (count > maxClipPackets) {
            throw new CodecException("a clip for which " + count + " packets must be decoded",
                    "at most " + maxClipPackets);
        }
    }

    private static void checkYield(int samples, int indexed) throws CodecException {
        if (samples != indexed) {
            throw new CodecException("a packet of " + samples + " samples", indexed + ", as when the index was made");
        }
    }

    private void decode(Decoder open, MemorySegment file, long offset, int begin, int last, int from, int count,
            MemorySegment out, long outOffset, long channelBytes) throws CodecException {
        checkPackets(begin, last);
        int left = count;
        for (int i = begin; i <= last; i = table.next(i)) {
            send(open, table, i, file, offset);
            decodedPackets++;
            int at = table.start[i];
            boolean isEnd = table.next(i) == table.pieces;
            int end = table.start[table.next(i)];
            at = receive(open, at, from, count, out, outOffset, channelBytes);
            if (isEnd) {
                open.drain();
                at = receive(open, at, from, count, out, outOffset, channelBytes);
            }
            if (end > from) {
                checkYield(at - table.start[i], end - table.start[i]);
            }
            left -= Math.max(0, Math.min(end, from + count) - Math.max(table.start[i], from));
        }
        if (left != 0) {
            throw new CodecException(left + " of " + count + " samples are missing", "all");
        }
    }

    /** Receives what a packet gives, whose first sample is {@code at}; returns the sample behind. */
    private int receive(Decoder open, int at, int from, int count, MemorySegment out, long outOffset,
            long channelBytes) throws CodecException {
        int next = at;
        while (open.receive()) {
            int samples = open.samples();
            int begin = Math.max(next, from);
            int end = Math.min(next + samples, from + count);
            if (begin < end) {
                if (open.isFlagged() || open.hasErrors()) {
                    throw new CodecException("sound that is damaged at sample " + (begin - table.cut));
                }
                open.copySamples(table.channels, begin - next, end - begin, out,
                        outOffset + (long) (begin - from) * Float.BYTES, channelBytes);
            }
            next += samples;
        }
        return next;
    }

    /** Sends a packet, of one piece or several. */
    static void send(Decoder to, SoundTable table, int packet, MemorySegment file, long offset) throws CodecException {
        int end = table.next(packet);
        int bytes = 0;
        for (int i = packet; i < end; i++) {
            bytes = Math.addExact(bytes, table.size[i]);
        }
        to.begin(bytes);
        int at = 0;
        for (int i = packet; i < end; i++) {
            to.append(file, offset + table.position[i], table.size[i], at);
            at += table.size[i];
        }
        to.send(packet, packet, true);
    }

    private Decoder decoder(MemorySegment index, long entry) throws IOException {
        Decoder open = decoder;
        if (open != null && parameterBytes >= 0) {
            return open;
        }
        closeDecoder();
        long from = table.extradataOffset(entry);
        int size = table.extradataBytes(entry);
        String codec = SoundIndexer.requireKnown(table.codec(entry));
        open = Decoder.ofSound(codec, index.asSlice(from, size), table.rate, table.channels);
        decoder = open;
        isFading = codec.equals("opus");
        rate = table.rate;
        channels = table.channels;
        long keyBytes = from + size - entry - IndexEntry.HEADER_BYTES;
        MemorySegment.copy(index, entry + IndexEntry.HEADER_BYTES, parameters.of(keyBytes), 0, keyBytes);
        parameterBytes = keyBytes;
        return open;
    }

    private void closeDecoder() {
        parameterBytes = -1;
        Decoder open = decoder;
        decoder = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        closeDecoder();
        parameters.close();
    }
}
