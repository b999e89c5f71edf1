// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.FFmpeg;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The program of the process that decodes for an {@link IsolatedDecoder}. It ends when the other end of the socket is
 * closed, or the process there ends.
 */
final class IsolatedChild implements AutoCloseable {

    /** What is asked for. */
    enum Work { FRAMES, SOUND, WHOLE_SOUND, VIDEO_INDEX, SOUND_INDEX }

    // The numbers of the memory.
    static final int STATUS = 0;
    /** The bytes of a result that stands at the beginning, or of the reason. */
    static final int VALUE = 1;
    static final int DECODED = 2;
    static final int WORK = 3;
    static final int ENTRY_BYTES = 4;
    /** The part of the file that is there. */
    static final int FIRST = 5;
    static final int END = 6;
    static final int NUMBERS = 7;

    static final int GOOD = 0;
    /** The sample is bad. */
    static final int BAD = 1;
    private static final int FAILED = 2;

    /** Does what the memory asks for, and returns the bytes of a result at its beginning. */
    @FunctionalInterface
    interface Handler {

        long handle(SharedMemory memory) throws IOException;
    }

    private @Nullable ClipReader clips;
    private @Nullable FramePixels pixels;
    private @Nullable SoundClipReader sounds;
    private Decoder.@Nullable Session whole;

    /** Starts with the socket, the memory's file, and the number of the process that asks. */
    public static void main(String[] arguments) throws IOException {
        try (var decoding = new IsolatedChild()) {
            serve(arguments, decoding::handle);
        }
    }

    static void serve(String[] arguments, Handler handler) throws IOException {
        // Also in the midst of a sample: a daemon thread waits for the end of the process that asks.
        Thread.ofPlatform().daemon().name("penstock isolated end").start(() -> {
            ProcessHandle.of(Long.parseLong(arguments[2])).ifPresent(asking -> asking.onExit().join());
            Runtime.getRuntime().halt(1);
        });
        ByteBuffer bell = ByteBuffer.allocateDirect(Long.BYTES);
        // The memory first: when the socket is accepted, both names are removed.
        try (var memory = new SharedMemory(Path.of(arguments[1]));
                SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(arguments[0]))) {
            while (true) {
                bell.clear();
                while (bell.hasRemaining()) {
                    if (socket.read(bell) < 0) {
                        return;
                    }
                }
                memory.map(bell.getLong(0));
                answer(memory, handler);
                bell.clear().putLong(0, memory.memory().byteSize());
                while (bell.hasRemaining()) {
                    socket.write(bell);
                }
            }
        }
    }

    private static void answer(SharedMemory memory, Handler handler) throws IOException {
        try {
            memory.number(VALUE, handler.handle(memory));
            memory.number(STATUS, GOOD);
        } catch (CodecException | IOException e) {
            refuse(memory, BAD, String.valueOf(e.getMessage()));
        } catch (RuntimeException | LinkageError e) {
            refuse(memory, FAILED, String.valueOf(e));
        }
    }

    private static void refuse(SharedMemory memory, int status, String reason) throws IOException {
        memory.number(VALUE, put(memory, reason.getBytes(StandardCharsets.UTF_8)));
        memory.number(STATUS, status);
    }

    private static long put(SharedMemory memory, byte[] bytes) throws IOException {
        MemorySegment.copy(bytes, 0, memory.require(SharedMemory.BEGIN + bytes.length), ValueLayout.JAVA_BYTE,
                SharedMemory.BEGIN, bytes.length);
        return bytes.length;
    }

    private long handle(SharedMemory memory) throws IOException {
        FFmpeg.require();
        long file = SharedMemory.BEGIN + memory.number(ENTRY_BYTES);
        long bytes = memory.number(END) - memory.number(FIRST);
        return switch (Work.values()[(int) memory.number(WORK)]) {
            case FRAMES -> frames(memory, file - memory.number(FIRST), file + bytes);
            case SOUND -> sound(memory, file - memory.number(FIRST), file + bytes);
            case WHOLE_SOUND -> wholeSound(memory, file, bytes);
            case VIDEO_INDEX -> put(memory, VideoIndexer.index(memory.memory().asSlice(file, bytes),
                    limits(memory, 0)));
            case SOUND_INDEX -> put(memory, SoundIndexer.index(memory.memory().asSlice(file, bytes),
                    limits(memory, 0)));
        };
    }

    private static int number(SharedMemory memory, int n) {
        return (int) memory.number(NUMBERS + n);
    }

    private static DecoderLimits limits(SharedMemory memory, int n) {
        return new DecoderLimits(memory.number(NUMBERS + n), number(memory, n + 1));
    }

    /** The file's first byte is before what is there of it. */
    private long frames(SharedMemory memory, long file, long numbers) throws IOException {
        int count = number(memory, 0);
        int rotation = number(memory, 1);
        if (clips == null) {
            clips = new ClipReader(limits(memory, 6), number(memory, 8), true);
            pixels = new FramePixels(new ImageFit(ImageFit.Sizing.values()[number(memory, 2)], number(memory, 3),
                    number(memory, 4), number(memory, 5)));
        }
        ClipReader reader = clips;
        FramePixels converter = Objects.requireNonNull(pixels);
        long plane = (long) number(memory, 3) * number(memory, 4);
        var target = new FramePixels.Target(plane, number(memory, 4), 1);
        MemorySegment all = memory.memory();
        int[] frames = all.asSlice(numbers, (long) count * Integer.BYTES).toArray(ValueLayout.JAVA_INT_UNALIGNED);
        long out = numbers + (long) count * Integer.BYTES;
        reader.load(all, SharedMemory.BEGIN, memory.number(ENTRY_BYTES));
        long before = reader.decodedPackets();
        try {
            reader.read(all, SharedMemory.BEGIN, all, file, frames, count, (number, decoder) ->
                    converter.write(decoder, rotation, all, out + number * 3L * plane, target));
        } finally {
            memory.number(DECODED, reader.decodedPackets() - before);
        }
        return 0;
    }

    private long sound(SharedMemory memory, long file, long out) throws IOException {
        if (sounds == null) {
            sounds = new SoundClipReader(number(memory, 3));
        }
        SoundClipReader reader = sounds;
        MemorySegment all = memory.memory();
        reader.load(all, SharedMemory.BEGIN, memory.number(ENTRY_BYTES));
        long before = reader.decodedPackets();
        try {
            reader.read(all, SharedMemory.BEGIN, all, file, number(memory, 0), number(memory, 1), all, out,
                    (long) number(memory, 1) * Float.BYTES);
        } finally {
            memory.number(DECODED, reader.decodedPackets() - before);
        }
        return 0;
    }

    /** Puts the samples behind the file. */
    private long wholeSound(SharedMemory memory, long at, long bytes) throws IOException {
        if (whole == null) {
            SoundDecoder decoder = number(memory, 0) == 0 ? SoundDecoder.mono(number(memory, 1))
                    : SoundDecoder.channels(number(memory, 0), number(memory, 1));
            whole = (number(memory, 2) == 0 ? decoder : decoder.resampled()).open();
        }
        long made = whole.byteSize(memory.memory().asSlice(at, bytes), bytes);
        MemorySegment all = memory.require(at + bytes + made);
        whole.decode(all.asSlice(at, bytes), bytes, all, at + bytes, made);
        return made;
    }

    @Override
    public void close() {
        if (clips != null) {
            clips.close();
        }
        if (sounds != null) {
            sounds.close();
        }
        if (whole != null) {
            whole.close();
        }
    }
}
