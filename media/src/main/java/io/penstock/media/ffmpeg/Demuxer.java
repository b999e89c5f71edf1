// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.error.CodecException;
import io.penstock.os.DowncallFailure;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The packets of one stream of a file, in decoding order, by FFmpeg's demuxer. For one thread.
 *
 * <p>Only containers and codecs of a list are opened, with no protocol and at most {@value DecoderLimits#MAX_STREAMS}
 * streams.
 */
public final class Demuxer implements AutoCloseable {

    /** What a stream has. */
    public enum Kind {
        /** Frames of pictures. */
        VIDEO,
        /** Samples of sound. */
        SOUND
    }

    private static final String VIDEO_CONTAINERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm";
    private static final String SOUND_CONTAINERS = VIDEO_CONTAINERS + ",wav,aiff,flac,ogg,mp3,aac";
    /** {@code AV_DISPOSITION_ATTACHED_PIC}: the cover of an album. */
    private static final int COVER = 0x400;
    private static final int DISPLAY_MATRIX = 5;
    private static final long NO_TIME = Long.MIN_VALUE;
    private static final int KEY = 1;
    private static final int CORRUPT = 2;
    private static final int DISCARD = 4;

    private final ByteSource source;
    private final StructOffsets offsets = FFmpeg.offsets();
    private final long context;
    private final long packet;
    private final int stream;
    private final long streamAddress;
    private final long parameters;
    private boolean closed;

    /**
     * Opens a file.
     *
     * @param file its bytes; must stay valid until it is closed
     * @param kind which stream to read: the first of this kind
     * @throws CodecException if it is damaged, has no such stream, or is of a container that is not supported
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static Demuxer open(MemorySegment file, Kind kind) throws IOException {
        FFmpeg.require();
        return new Demuxer(file, kind);
    }

    /** Opens a file with libraries that were loaded, tested or not. */
    Demuxer(MemorySegment file, Kind kind) throws IOException {
        source = new ByteSource(file);
        long opened = 0;
        try {
            opened = openInput(kind);
            if (kind == Kind.SOUND) {
                Calls.check(Calls.number(Calls.STREAM_INFO, opened, 0L), "avformat_find_stream_info");
            }
            source.rethrow();
            context = opened;
            stream = find(kind);
            streamAddress = Native.i64(Native.i64(context + StructOffsets.FORMAT_STREAMS) + 8L * stream);
            parameters = Native.i64(streamAddress + offsets.streamCodec());
            packet = Calls.make(Calls.PACKET_ALLOC, "av_packet_alloc");
        } catch (Throwable t) {
            if (opened != 0) {
                Calls.free(Calls.CLOSE_INPUT, opened);
            }
            source.close();
            throw t;
        }
    }

    private long openInput(Kind kind) throws IOException {
        long allocated = Calls.make(Calls.FORMAT_ALLOC, "avformat_alloc_context");
        Native.i64(allocated + StructOffsets.FORMAT_PB, source.context());
        try (Arena arena = Arena.ofConfined(); Options options = new Options()) {
            MemorySegment holder = arena.allocate(JAVA_LONG);
            holder.set(JAVA_LONG, 0, allocated);
            options.set("format_whitelist", kind == Kind.VIDEO ? VIDEO_CONTAINERS : SOUND_CONTAINERS)
                    .set("protocol_whitelist", "none").set("max_streams", DecoderLimits.MAX_STREAMS)
                    .set("probesize", 1 << 20);
            // On failure it frees the context.
            int status = (int) Calls.OPEN_INPUT.invokeExact(holder.address(), 0L, 0L, options.address());
            source.rethrow();
            if (status < 0) {
                throw new CodecException("a file that cannot be opened: " + Calls.text(status), "MP4, MOV, Matroska, "
                        + (kind == Kind.VIDEO ? "or WebM" : "WebM, FLAC, Ogg, MP3, AAC, WAV or AIFF"));
            }
            return holder.get(JAVA_LONG, 0);
        } catch (IOException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private int find(Kind kind) {
        int count = Native.i32(context + StructOffsets.FORMAT_STREAM_COUNT);
        long streams = Native.i64(context + StructOffsets.FORMAT_STREAMS);
        for (int i = 0; i < count; i++) {
            long address = Native.i64(streams + 8L * i);
            int type = Native.i32(Native.i64(address + offsets.streamCodec()) + StructOffsets.CODEC_TYPE);
            if (type == kind.ordinal() && (Native.i32(address + offsets.streamDisposition()) & COVER) == 0) {
                return i;
            }
        }
        throw new CodecException("no stream of " + (kind == Kind.VIDEO ? "video" : "sound") + " among " + count,
                "one");
    }

    /**
     * Reads the next packet of the stream.
     *
     * @return false at the end
     * @throws IOException if the file cannot be read
     */
    public boolean next() throws IOException {
        do {
            Calls.run(Calls.PACKET_UNREF, packet);
            int status = Calls.number(Calls.READ_PACKET, context, packet);
            source.rethrow();
            if (status == Calls.EOF) {
                return false;
            }
            Calls.check(status, "av_read_frame");
        } while (Native.i32(packet + StructOffsets.PACKET_STREAM) != stream);
        return true;
    }

    /** {@return the codec's name, such as {@code h264}} */
    public String codec() {
        return Native.text(Calls.address(Calls.CODEC_NAME, Native.i32(parameters + StructOffsets.CODEC_ID)));
    }

    /** {@return what the decoder needs before the first packet; empty if nothing} */
    public byte[] extradata() {
        int bytes = Native.i32(parameters + StructOffsets.CODEC_EXTRADATA_BYTES);
        byte[] copy = new byte[Math.max(0, bytes)];
        if (bytes > 0) {
            MemorySegment.copy(Native.ALL, java.lang.foreign.ValueLayout.JAVA_BYTE,
                    Native.i64(parameters + StructOffsets.CODEC_EXTRADATA), copy, 0, bytes);
        }
        return copy;
    }

    /** {@return the numerator of the seconds that a unit of a time stamp is} */
    public int timeBaseNumerator() {
        return Native.i32(streamAddress + offsets.streamTimeBase());
    }

    /** {@return the denominator of the seconds that a unit of a time stamp is} */
    public int timeBaseDenominator() {
        return Native.i32(streamAddress + offsets.streamTimeBase() + 4);
    }

    /** {@return the number of channels of sound} */
    public int channels() {
        return Native.i32(parameters + offsets.channels());
    }

    /** {@return how many packets the container says that there are; 0 if it does not say} */
    public long declaredPackets() {
        return Native.i64(streamAddress + offsets.streamFrames());
    }

    /** {@return the length of the stream in units of the time base, as the container says; 0 if it does not say} */
    public long declaredDuration() {
        return Math.max(0, Native.i64(streamAddress + offsets.streamFrames() - Long.BYTES));
    }

    /** {@return by how many degrees counter-clockwise frames must be turned to be upright: 0, 90, 180 or 270} */
    public int rotation() {
        long matrix = displayMatrix();
        if (matrix == 0) {
            return 0;
        }
        // Columns of the matrix in 16.16, scaled: the angle of (a, b)
        double angle = StrictMath.toDegrees(StrictMath.atan2(Native.i32(matrix + 4), Native.i32(matrix)));
        return Math.floorMod(-(int) Math.round(angle / 90) * 90, 360);
    }

    private long displayMatrix() {
        try {
            if (!Calls.HAS_CODED_SIDE_DATA) {
                return (long) Calls.SIDE_DATA.invokeExact(streamAddress, DISPLAY_MATRIX, 0L);
            }
            long found = (long) Calls.SIDE_DATA.invokeExact(Native.i64(parameters + offsets.sideData()),
                    Native.i32(parameters + offsets.sideData() + 8), DISPLAY_MATRIX);
            return found == 0 ? 0 : Native.i64(found);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** {@return the packet's bytes: of native memory, until the next call of {@link #next}} */
    public MemorySegment data() {
        return Native.ALL.asSlice(Native.i64(packet + StructOffsets.PACKET_DATA), size());
    }

    /** {@return the number of the packet's bytes} */
    public int size() {
        return Native.i32(packet + StructOffsets.PACKET_BYTES);
    }

    /** {@return the packet's position in the file: of its bytes, or of a block around them; -1 if it has none} */
    public long position() {
        return Native.i64(packet + StructOffsets.PACKET_POS);
    }

    /** {@return whether the packet says when it is shown} */
    public boolean hasPts() {
        return pts() != NO_TIME;
    }

    /** {@return when the packet's frame is shown, in units of the time base} */
    public long pts() {
        return Native.i64(packet + StructOffsets.PACKET_PTS);
    }

    /** {@return when the packet is decoded, in units of the time base; its pts if it does not say} */
    public long dts() {
        long dts = Native.i64(packet + StructOffsets.PACKET_DTS);
        return dts == NO_TIME ? pts() : dts;
    }

    /** {@return whether the container marks the packet as a key} */
    public boolean isKey() {
        return (Native.i32(packet + StructOffsets.PACKET_FLAGS) & KEY) != 0;
    }

    /** {@return whether the container says that the packet is damaged} */
    public boolean isCorrupt() {
        return (Native.i32(packet + StructOffsets.PACKET_FLAGS) & CORRUPT) != 0;
    }

    /** {@return whether the packet must be decoded, but an edit list leaves its frame out} */
    public boolean isDiscarded() {
        return (Native.i32(packet + StructOffsets.PACKET_FLAGS) & DISCARD) != 0;
    }

    /** The address of the packet. */
    long packet() {
        return packet;
    }

    /** The address of the stream's {@code AVCodecParameters}. */
    long parameters() {
        return parameters;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Calls.free(Calls.PACKET_FREE, packet);
            Calls.free(Calls.CLOSE_INPUT, context);
            source.close();
        }
    }
}
