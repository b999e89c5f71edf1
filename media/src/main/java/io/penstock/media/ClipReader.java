// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.internal.Scratch;
import io.penstock.media.ffmpeg.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decodes chosen frames of videos, by their indexes: feeds the packets from the last key at which decoding can begin.
 * A decoder is kept while codec and parameters stay the same. For one thread; allocates nothing once it is warm.
 */
final class ClipReader implements AutoCloseable {

    /** Takes a frame. */
    @FunctionalInterface
    interface FrameSink {

        /**
         * Takes a frame. A frame may come twice, of the same pixels.
         *
         * @param number its number among the wanted ones
         * @param decoder has the frame, during this call
         * @throws IOException if it cannot be used
         */
        void take(int number, Decoder decoder) throws IOException;
    }

    private final DecoderLimits limits;
    private final int maxClipPackets;
    private final boolean isSkipping;
    private final PacketTable table = new PacketTable();
    private final Scratch parameters = new Scratch();
    /** The bytes of the decoder's codec and parameters; -1 if another decoder is needed. */
    private long parameterBytes = -1;
    private @Nullable Decoder decoder;
    private boolean[] given = {};
    private int left;
    /** Of the present attempt: its first packet, and whether frames are known to be right though they are flagged. */
    private int start;
    private boolean isProven;
    private long decodedPackets;

    /**
     * Creates a reader without a decoder.
     *
     * @param limits what files may ask for
     * @param maxClipPackets the packets that may be decoded for a clip
     * @param isSkipping whether frames that no other one needs are not decoded unless they are wanted
     */
    ClipReader(DecoderLimits limits, int maxClipPackets, boolean isSkipping) {
        this.limits = limits;
        this.maxClipPackets = maxClipPackets;
        this.isSkipping = isSkipping;
    }

    /** Loads the index of a video and returns it, for this reader's next call. */
    PacketTable load(MemorySegment index, long offset, long bytes) {
        table.load(index, offset, bytes);
        long from = table.extradataOffset(offset);
        long keyBytes = from + table.extradataBytes(offset) - offset - PacketTable.HEADER_BYTES;
        if (keyBytes != parameterBytes || MemorySegment.mismatch(index, offset + PacketTable.HEADER_BYTES,
                offset + PacketTable.HEADER_BYTES + keyBytes, parameters.of(1), 0, keyBytes) >= 0) {
            parameterBytes = -1;
        }
        return table;
    }

    /** The packet at which decoding these frames begins, at first. */
    int firstPacket(int[] frames, int from, int count) {
        int first = frames[from];
        for (int i = from; i < from + count; i++) {
            first = Math.min(first, frames[i]);
        }
        return startOf(first, table.packets - 1);
    }

    /** The first packet that may be decoded, of frames whose decoding begins at another: a proven key may not do. */
    int leastPacket(int start) {
        int least = start;
        while (least > 0 && (table.flags[least] & PacketTable.PROVEN) != 0) {
            least--;
            while (least > 0 && (table.flags[least] & PacketTable.CLEAN) == 0) {
                least--;
            }
        }
        return least;
    }

    /** The last packet, in decoding order, that these frames have. */
    int lastPacket(int[] frames, int from, int count) {
        int last = 0;
        for (int i = from; i < from + count; i++) {
            last = Math.max(last, table.packetOf[frames[i]]);
        }
        return last;
    }

    /** How many packets were sent to a decoder. */
    long decodedPackets() {
        return decodedPackets;
    }

    /**
     * Decodes frames of the video whose index was loaded.
     *
     * @param index the index, as loaded
     * @param entry its first byte
     * @param file memory or a mapping with the file
     * @param offset the file's first byte
     * @param frames the numbers of the frames, ascending, each once
     * @param count how many they are
     * @param sink takes them
     * @throws IOException if a frame cannot be decoded as decoding from the start gives it
     */
    void read(MemorySegment index, long entry, MemorySegment file, long offset, int[] frames, int count,
            FrameSink sink) throws IOException {
        try {
            Decoder open = decoder(index, entry);
            int first = startOf(frames[0], table.packets - 1);
            while (!decode(open, file, offset, first, frames, count, sink)) {
                first = startOf(frames[0], first - 1);
            }
        } catch (Throwable t) {
            closeDecoder();
            throw t;
        }
    }

    private Decoder decoder(MemorySegment index, long entry) throws IOException {
        Decoder open = decoder;
        if (open != null && parameterBytes >= 0) {
            return open;
        }
        closeDecoder();
        long from = table.extradataOffset(entry);
        int size = table.extradataBytes(entry);
        String codec = table.codec(entry);
        if (!VideoIndexer.CODECS.contains(codec)) {
            throw new CodecException("an index of the codec '" + codec + "'", "one of " + VideoIndexer.CODECS);
        }
        open = Decoder.ofVideo(codec, index.asSlice(from, size), limits);
        decoder = open;
        long keyBytes = from + size - entry - PacketTable.HEADER_BYTES;
        MemorySegment.copy(index, entry + PacketTable.HEADER_BYTES, parameters.of(keyBytes), 0, keyBytes);
        parameterBytes = keyBytes;
        return open;
    }

    /** The last packet up to another at which decoding a frame can begin: at the latest the first of all. */
    private int startOf(int frame, int last) {
        int packet = table.packetOf[frame];
        for (int i = Math.min(packet, last); i > 0; i--) {
            if ((table.flags[i] & PacketTable.CLEAN) != 0 && table.pts[i] <= table.pts[packet]) {
                return i;
            }
        }
        return 0;
    }

    /** Returns false if frames are flagged that may be right when they are decoded from an earlier key. */
    private boolean decode(Decoder open, MemorySegment file, long offset, int from, int[] frames, int count,
            FrameSink sink) throws IOException {
        int last = lastPacket(frames, 0, count);
        if (last - from >= maxClipPackets) {
            throw new CodecException("a clip for which " + (last - from + 1) + " packets must be decoded",
                    "at most " + maxClipPackets + " (encode the file with a key more often)");
        }
        begin(from, last, count);
        boolean isGood = true;
        for (int i = from; i <= last && left > 0 && isGood; i++) {
            open.skipUnreferenced(isSkipping && find(table.pts[i], frames, count) < 0);
            open.send(file, offset + table.position[i], table.size[i], table.pts[i], table.dts[i],
                    (table.flags[i] & PacketTable.KEY) != 0);
            decodedPackets++;
            isGood = receive(open, frames, count, sink);
        }
        open.drain();
        isGood &= receive(open, frames, count, sink);
        open.flush();
        if (isGood && left > 0) {
            throw new CodecException(left + " of " + count + " frames are missing: the decoder did not give them",
                    "all");
        }
        return isGood;
    }

    private void begin(int from, int last, int count) {
        start = from;
        isProven = from > 0 && (table.flags[from] & PacketTable.PROVEN) != 0;
        for (int i = from; i <= last; i++) {
            isProven &= (table.flags[i] & (PacketTable.KEY | PacketTable.CLEAN)) != PacketTable.KEY;
        }
        if (given.length < count) {
            given = new boolean[count];
        }
        Arrays.fill(given, 0, count, false);
        left = count;
    }

    /** Finds a wanted frame by its time stamp. */
    private int find(long pts, int[] frames, int count) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            long other = table.pts[table.packetOf[frames[middle]]];
            if (other == pts) {
                return middle;
            }
            if (other < pts) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    private boolean receive(Decoder open, int[] frames, int count, FrameSink sink) throws IOException {
        boolean isGood = true;
        while (open.receive()) {
            // Frames before a key need what is before it, and nothing behind it needs them.
            boolean isBefore = start > 0 && open.pts() < table.pts[start];
            if (!isGood || isBefore) {
                continue;
            }
            int number = find(open.pts(), frames, count);
            if (open.hasErrors() || open.isFlagged() && !isProven) {
                if (start == 0 || (table.flags[start] & PacketTable.PROVEN) == 0) {
                    throw new CodecException(number < 0 ? "a frame that wanted ones may need is damaged"
                            : "frame " + frames[number] + " is damaged, or needs frames that are");
                }
                isGood = false;
            } else if (number >= 0 && !given[number]) {
                checkSize(open);
                sink.take(number, open);
                given[number] = true;
                left--;
            }
        }
        return isGood;
    }

    /** Files change the size of their frames on the way. */
    private void checkSize(Decoder open) {
        long pixels = (long) open.width() * open.height();
        if (pixels > limits.maxPixels()) {
            throw new CodecException("a frame of " + open.width() + "x" + open.height() + " pixels",
                    "at most " + limits.maxPixels() + " pixels");
        }
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
