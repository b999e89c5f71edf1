// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.error.CodecException;
import io.penstock.os.DowncallFailure;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A decoder of one stream: packets in, frames out. For one thread, which is the only one that decodes: frame threads
 * would delay frames and change what damaged files give.
 *
 * <p>After {@link #send} or {@link #drain}, call {@link #receive} until it returns false. Frames whose references are
 * missing or damaged are given too: see {@link #isFlagged} and {@link #hasErrors}.
 */
public final class Decoder implements AutoCloseable {

    /** {@code AVDISCARD_DEFAULT} and {@code AVDISCARD_NONREF}. */
    private static final int SKIP_NOTHING = 0;
    private static final int SKIP_UNREFERENCED = 8;
    /** {@code AV_INPUT_BUFFER_PADDING_SIZE}. */
    private static final int PADDING_BYTES = 64;
    private static final int CORRUPT = 1;
    /** {@code AV_NUM_DATA_POINTERS}. */
    private static final int VIDEO_PLANES = 8;
    /** {@code AVMEDIA_TYPE_AUDIO}, {@code AV_FRAME_DATA_SKIP_SAMPLES}, and the data of an {@code AVFrameSideData}. */
    private static final int SOUND = 1;
    private static final int SKIP_SAMPLES = 9;
    private static final int SIDE_DATA = 8;
    private static final long SKIP_OPTION = Arena.global().allocateFrom("skip_frame").address();

    private final StructOffsets offsets = FFmpeg.offsets();
    private final long context;
    private final long packet;
    private final long frame;
    private final boolean isSound;
    private SampleForm.@Nullable Room room;
    /** Of the first frame of sound; 0 before it. */
    private int rate;
    private int channels;
    private boolean isSkipping;
    private boolean closed;

    /**
     * Opens a decoder for the stream of a demuxer.
     *
     * @param stream the demuxer
     * @param limits what its frames may ask for
     * @throws CodecException if the codec is not known or its parameters are damaged
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static Decoder of(Demuxer stream, DecoderLimits limits) throws IOException {
        FFmpeg.require();
        return untested(stream, limits);
    }

    static Decoder untested(Demuxer stream, DecoderLimits limits) {
        try (Options options = new Options()) {
            return new Decoder(stream.parameters(), limits, options);
        }
    }

    /**
     * Opens a decoder for the stream of sound of a demuxer that cuts no samples, as {@link #ofSound} does.
     *
     * @param stream the demuxer
     * @throws CodecException if the codec is not known or its parameters are damaged
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static Decoder uncut(Demuxer stream) throws IOException {
        FFmpeg.require();
        try (Options options = new Options()) {
            return new Decoder(stream.parameters(), DecoderLimits.DEFAULT, options.set("flags2", "+skip_manual"));
        }
    }

    /**
     * Opens a decoder of video.
     *
     * @param codec the codec's name
     * @param extradata what the decoder needs before the first packet
     * @param limits what its frames may ask for
     * @throws CodecException if the codec is not known or its parameters are damaged
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static Decoder ofVideo(String codec, MemorySegment extradata, DecoderLimits limits) throws IOException {
        FFmpeg.require();
        return ofVideoUntested(codec, extradata, limits);
    }

    /**
     * Opens a decoder of sound that cuts no samples: what is to be left out of a frame is told by {@link #cutFront} and
     * {@link #cutBack}.
     *
     * @param codec the codec's name
     * @param extradata what the decoder needs before the first packet
     * @param rate samples of a channel in a second
     * @param channels the number of channels
     * @throws CodecException if the codec is not known or its parameters are damaged
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static Decoder ofSound(String codec, MemorySegment extradata, int rate, int channels) throws IOException {
        FFmpeg.require();
        try (Options options = new Options()) {
            options.set("ar", rate).set("ch_layout", channels + " channels").set("flags2", "+skip_manual");
            return of(codec, SOUND, extradata, DecoderLimits.DEFAULT, options);
        }
    }

    static Decoder ofVideoUntested(String codec, MemorySegment extradata, DecoderLimits limits) {
        try (Options options = new Options()) {
            return of(codec, 0, extradata, limits, options);
        }
    }

    private static Decoder of(String codec, int type, MemorySegment extradata, DecoderLimits limits, Options options)
            {
        long parameters = Calls.make(Calls.PARAMETERS_ALLOC, "avcodec_parameters_alloc");
        try (Arena arena = Arena.ofConfined()) {
            long descriptor = Calls.address(Calls.DESCRIPTOR, arena.allocateFrom(codec).address());
            if (descriptor == 0) {
                throw new CodecException("the codec '" + codec + "'", "one that FFmpeg " + FFmpeg.version() + " has");
            }
            Native.i32(parameters + StructOffsets.CODEC_TYPE, type);
            Native.i32(parameters + StructOffsets.CODEC_ID, Native.i32(descriptor));
            if (extradata.byteSize() > 0) {
                long copy = Calls.make(Calls.MALLOC, extradata.byteSize() + PADDING_BYTES, "av_malloc");
                MemorySegment.copy(extradata, 0, Native.ALL, copy, extradata.byteSize());
                Native.ALL.asSlice(copy + extradata.byteSize(), PADDING_BYTES).fill((byte) 0);
                Native.i64(parameters + StructOffsets.CODEC_EXTRADATA, copy);
                Native.i32(parameters + StructOffsets.CODEC_EXTRADATA_BYTES, (int) extradata.byteSize());
            }
            return new Decoder(parameters, limits, options);
        } finally {
            Calls.free(Calls.PARAMETERS_FREE, parameters);
        }
    }

    private Decoder(long parameters, DecoderLimits limits, Options options) {
        long made = 0;
        try {
            int id = Native.i32(parameters + StructOffsets.CODEC_ID);
            long decoder = Calls.address(Calls.FIND_DECODER, id);
            if (decoder == 0) {
                throw new CodecException("the codec '" + Native.text(Calls.address(Calls.CODEC_NAME, id)) + "'",
                        "one that FFmpeg " + FFmpeg.version() + " decodes");
            }
            made = Calls.make(Calls.CONTEXT_ALLOC, decoder, "avcodec_alloc_context3");
            Calls.check(Calls.number(Calls.PARAMETERS_TO_CONTEXT, made, parameters), "avcodec_parameters_to_context");
            isSound = Native.i32(parameters + StructOffsets.CODEC_TYPE) == SOUND;
            options.set("threads", 1).set("max_pixels", limits.maxPixels()).set("flags", "+output_corrupt");
            int status = Calls.number(Calls.OPEN, made, decoder, options.address());
            if (status < 0) {
                throw new CodecException("a stream whose decoder refuses it: " + Calls.text(status),
                        "parameters that are not damaged, and at most " + limits.maxPixels() + " pixels");
            }
            context = made;
            packet = Calls.make(Calls.PACKET_ALLOC, "av_packet_alloc");
            frame = Calls.make(Calls.FRAME_ALLOC, "av_frame_alloc");
        } catch (Throwable t) {
            if (made != 0) {
                Calls.free(Calls.CONTEXT_FREE, made);
            }
            throw t;
        }
    }

    /**
     * Sends a packet.
     *
     * @param bytes memory or a mapping with the packet's bytes
     * @param offset the first of them
     * @param size their number
     * @param pts when its frame is shown
     * @param dts when it is decoded
     * @param isKey whether the container marks it as a key
     * @throws CodecException if it cannot be decoded
     */
    public void send(MemorySegment bytes, long offset, int size, long pts, long dts, boolean isKey)
            {
        begin(size);
        append(bytes, offset, size, 0);
        send(pts, dts, isKey);
    }

    /**
     * Begins a packet whose bytes {@link #append} gives.
     *
     * @param size their number
     * @throws CodecException if there is no memory for it
     */
    public void begin(int size) {
        // The library pads a packet of its own; decoders read past the end.
        Calls.check(Calls.number(Calls.PACKET_NEW, packet, size), "av_new_packet");
    }

    /**
     * Copies bytes to the packet that was begun.
     *
     * @param bytes memory or a mapping that has them
     * @param offset the first of them
     * @param size their number
     * @param at where they begin in the packet
     */
    public void append(MemorySegment bytes, long offset, int size, int at) {
        try {
            Objects.checkFromIndexSize(at, size, Native.i32(packet + StructOffsets.PACKET_BYTES));
            MemorySegment.copy(bytes, offset, Native.ALL, Native.i64(packet + StructOffsets.PACKET_DATA) + at, size);
        } catch (Throwable t) {
            Calls.run(Calls.PACKET_UNREF, packet);
            throw t;
        }
    }

    /**
     * Sends the packet that was begun.
     *
     * @param pts when its frame is shown
     * @param dts when it is decoded
     * @param isKey whether the container marks it as a key
     * @throws CodecException if it cannot be decoded
     */
    public void send(long pts, long dts, boolean isKey) {
        try {
            Native.i64(packet + StructOffsets.PACKET_PTS, pts);
            Native.i64(packet + StructOffsets.PACKET_DTS, dts);
            Native.i32(packet + StructOffsets.PACKET_FLAGS, isKey ? 1 : 0);
            Calls.check(Calls.number(Calls.SEND, context, packet), "a packet that cannot be decoded");
        } finally {
            Calls.run(Calls.PACKET_UNREF, packet);
        }
    }

    /**
     * Sends a demuxer's packet, with what it says of samples to leave out.
     *
     * @param from the demuxer
     * @throws CodecException if it cannot be decoded
     */
    public void send(Demuxer from) {
        Calls.check(Calls.number(Calls.SEND, context, from.packet()), "a packet that cannot be decoded");
    }

    /**
     * Sends the end: the frames that are left follow.
     *
     * @throws CodecException if the last frames cannot be decoded
     */
    public void drain() {
        int status = Calls.number(Calls.SEND, context, 0L);
        if (status != Calls.EOF) {
            Calls.check(status, "the last packets cannot be decoded");
        }
    }

    /**
     * Receives the next frame.
     *
     * @return false if another packet is needed, or the end is reached
     * @throws CodecException if the frame cannot be decoded, or is of sound with another rate or number of channels
     *     than the first
     */
    public boolean receive() {
        int status = Calls.number(Calls.RECEIVE, context, frame);
        if (status == Calls.EAGAIN || status == Calls.EOF) {
            return false;
        }
        Calls.check(status, "a frame that cannot be decoded");
        if (isSound) {
            if (channels == 0) {
                rate = frameRate();
                channels = frameChannels();
            }
            if (rate != frameRate() || channels != frameChannels()) {
                throw new CodecException("sound that changes to " + frameChannels() + " channels of " + frameRate()
                        + " samples a second", channels + " of " + rate + ", as before");
            }
        }
        return true;
    }

    int frameRate() {
        return Native.i32(frame + offsets.frameRate());
    }

    int frameChannels() {
        return Native.i32(frame + offsets.frameChannels());
    }

    /** Forgets all packets, so that decoding can begin at another one. Drain first: some decoders keep a frame. */
    public void flush() {
        Calls.run(Calls.FLUSH, context);
    }

    /**
     * Tells whether frames that no other frame needs are skipped from the next packet on.
     *
     * @param isSkipped whether they are
     */
    public void skipUnreferenced(boolean isSkipped) {
        if (isSkipped != isSkipping) {
            isSkipping = isSkipped;
            try {
                int status = (int) Calls.SET_NUMBER.invokeExact(context, SKIP_OPTION,
                        (long) (isSkipped ? SKIP_UNREFERENCED : SKIP_NOTHING), 0);
                if (status < 0) {
                    throw new IllegalStateException("av_opt_set_int skip_frame: " + status);
                }
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }
    }

    /** {@return whether the decoder met errors in the frame's data, or missed frames that it needs} */
    public boolean hasErrors() {
        return Native.i32(frame + offsets.frameErrors()) != 0;
    }

    /** {@return whether the decoder says that the frame may not be what it should be} */
    public boolean isFlagged() {
        return (Native.i32(frame + offsets.frameFlags()) & CORRUPT) != 0;
    }

    /** {@return when the frame is shown, in units of the stream's time base} */
    public long pts() {
        return Native.i64(frame + StructOffsets.FRAME_PTS);
    }

    /** {@return pixels in a row of the frame} */
    public int width() {
        return Native.i32(frame + StructOffsets.FRAME_WIDTH);
    }

    /** {@return rows of the frame} */
    public int height() {
        return Native.i32(frame + StructOffsets.FRAME_HEIGHT);
    }

    /** {@return {@code AVPixelFormat} or {@code AVSampleFormat} of the frame} */
    public int format() {
        return Native.i32(frame + StructOffsets.FRAME_FORMAT);
    }

    /** {@return {@code AVColorRange}: 2 if values use the whole range} */
    public int colorRange() {
        return Native.i32(frame + offsets.frameRange());
    }

    /** {@return {@code AVColorSpace}: the matrix, 2 if it is not known} */
    public int colorMatrix() {
        return Native.i32(frame + offsets.frameMatrix());
    }

    /** {@return the samples of a channel in the frame} */
    public int samples() {
        return Native.i32(frame + StructOffsets.FRAME_SAMPLES);
    }

    /** {@return how many samples at the front of this frame and those behind it are to be left out} */
    public int cutFront() {
        return cut(0);
    }

    /** {@return how many samples at the end of this frame are to be left out} */
    public int cutBack() {
        return cut(Integer.BYTES);
    }

    private int cut(int field) {
        long data = Calls.address(Calls.FRAME_SIDE_DATA, frame, SKIP_SAMPLES);
        return data == 0 ? 0 : Math.max(0, Native.i32(Native.i64(data + SIDE_DATA) + field));
    }

    /**
     * Copies samples of a channel of the frame, as values from -1 to 1.
     *
     * @param channel its number
     * @param channels the channels that the frame must have
     * @param from the first sample
     * @param count their number
     * @param out receives floats
     * @param offset the first byte to write
     * @param stepBytes the bytes from a sample to the next
     * @throws CodecException if the form of samples is not known, or the frame has other channels
     */
    public void copySamples(int channel, int channels, int from, int count, MemorySegment out, long offset,
            long stepBytes) {
        SampleForm.of(format()).copy(this, channel, channels, from, count, out, offset, stepBytes);
    }

    /**
     * Copies samples of all channels as floats, a channel after the other.
     *
     * @param channels how many there must be
     * @param from the first sample of the frame
     * @param count their number
     * @param out receives floats
     * @param offset the first byte of the first channel
     * @param channelBytes the bytes from a channel to the next
     * @throws CodecException if the form of samples is not known, or the frame has other channels
     */
    public void copySamples(int channels, int from, int count, MemorySegment out, long offset, long channelBytes) {
        SampleForm.of(format()).copyPlanes(this, channels, from, count, out, offset, channelBytes);
    }

    /** Where samples are converted. */
    SampleForm.Room room() {
        SampleForm.Room made = room;
        if (made == null) {
            made = new SampleForm.Room();
            room = made;
        }
        return made;
    }

    /**
     * {@return the address of a plane of the frame, until the next call of {@link #receive}}
     *
     * @param plane its number
     * @throws IndexOutOfBoundsException if no frame, or the frame of sound, has so many
     */
    public long plane(int plane) {
        Objects.checkIndex(plane, isSound ? frameChannels() : VIDEO_PLANES);
        return Native.i64(Native.i64(frame + StructOffsets.FRAME_EXTENDED_DATA) + 8L * plane);
    }

    /**
     * {@return the bytes from a row of a plane to the next}
     *
     * @param plane its number
     * @throws IndexOutOfBoundsException if no frame has so many
     */
    public int lineBytes(int plane) {
        Objects.checkIndex(plane, VIDEO_PLANES);
        return Native.i32(frame + StructOffsets.FRAME_LINE_BYTES + 4L * plane);
    }

    /**
     * {@return an option of the decoder, as a number}
     *
     * @param name the option, such as {@code ar}, the sample rate
     */
    public long number(String name) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment value = local.allocate(JAVA_LONG);
            int status = (int) Calls.GET_NUMBER.invokeExact(context, local.allocateFrom(name).address(), 0,
                    value.address());
            return status < 0 ? 0 : value.get(JAVA_LONG, 0);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** {@return the name of the frame's pixel format, such as {@code yuv420p}} */
    public String pixelFormat() {
        return Native.text(Calls.address(Calls.PIXEL_FORMAT_NAME, format()));
    }

    /**
     * {@return the bytes of the frame in its own pixel format, planes and rows without gaps}
     *
     * @throws CodecException if the format has no such form
     */
    public byte[] packed() {
        try (Arena local = Arena.ofConfined()) {
            int size = (int) Calls.IMAGE_BYTES.invokeExact(format(), width(), height(), 1);
            Calls.check(size, "av_image_get_buffer_size");
            MemorySegment copy = local.allocate(size);
            Calls.check((int) Calls.IMAGE_COPY.invokeExact(copy.address(), size, frame + StructOffsets.FRAME_DATA,
                    frame + StructOffsets.FRAME_LINE_BYTES, format(), width(), height(), 1), "av_image_copy_to_buffer");
            return copy.toArray(ValueLayout.JAVA_BYTE);
        } catch (CodecException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /**
     * {@return the number of a pixel format in this FFmpeg; -1 if it has none of the name}
     *
     * @param name the format's name
     */
    public static int pixelFormat(String name) {
        try (Arena local = Arena.ofConfined()) {
            return (int) Calls.PIXEL_FORMAT.invokeExact(local.allocateFrom(name).address());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** {@return all memory of the process, in which the offset of a byte is its address, to read planes from} */
    public static MemorySegment memory() {
        return Native.ALL;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Calls.free(Calls.FRAME_FREE, frame);
            Calls.free(Calls.PACKET_FREE, packet);
            Calls.free(Calls.CONTEXT_FREE, context);
        }
    }
}
