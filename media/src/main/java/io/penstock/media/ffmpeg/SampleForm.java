// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The forms of samples in a frame, in the order of {@code AVSampleFormat}: u8, s16, s32, f32, f64 interleaved, the same
 * with a plane for each channel, then s64 and that in planes.
 */
enum SampleForm {
    U8(1, false), S16(2, false), S32(4, false), F32(4, false), F64(8, false),
    U8_PLANES(1, true), S16_PLANES(2, true), S32_PLANES(4, true), F32_PLANES(4, true), F64_PLANES(8, true),
    S64(8, false), S64_PLANES(8, true);

    private static final SampleForm[] ALL = values();

    private final int bytes;
    private final boolean isPlanar;

    SampleForm(int bytes, boolean isPlanar) {
        this.bytes = bytes;
        this.isPlanar = isPlanar;
    }

    static SampleForm of(int format) {
        if (format < 0 || format >= ALL.length) {
            throw new CodecException("samples in the form " + format, "integers or floats");
        }
        return ALL[format];
    }

    /** Copies all channels, a plane each. */
    void copyPlanes(Decoder frame, int channels, int from, int count, MemorySegment out, long offset,
            long channelBytes) {
        if (this != S16 || channels != 2) {
            for (int channel = 0; channel < channels; channel++) {
                copy(frame, channel, channels, from, count, out, offset + channel * channelBytes, Float.BYTES);
            }
            return;
        }
        long first = plane(frame, 0, channels, from, count) + (long) from * Integer.BYTES;
        Room room = frame.room();
        for (int done = 0; done < count; done += Room.SAMPLES) {
            int part = Math.min(Room.SAMPLES, count - done);
            long to = offset + (long) done * Float.BYTES;
            MemorySegment.copy(Native.ALL, JAVA_INT_UNALIGNED, first + (long) done * Integer.BYTES, room.integers, 0,
                    part);
            ofPairs(room.integers, Short.SIZE, room.floats, part);
            MemorySegment.copy(room.floats, 0, out, JAVA_FLOAT_UNALIGNED, to, part);
            ofPairs(room.integers, 0, room.floats, part);
            MemorySegment.copy(room.floats, 0, out, JAVA_FLOAT_UNALIGNED, to + channelBytes, part);
        }
    }

    private long plane(Decoder frame, int channel, int channels, int from, int count) {
        Objects.checkFromIndexSize(from, count, frame.samples());
        // A file's header, or an index, may say other channels than the frame has, and so more planes.
        int found = frame.frameChannels();
        if (found != channels) {
            throw new CodecException("a frame of " + found + " channels", String.valueOf(channels));
        }
        long plane = frame.plane(isPlanar ? channel : 0);
        if (plane == 0 || (long) (from + count) * (isPlanar ? bytes : bytes * channels) > frame.lineBytes(0)) {
            throw new CodecException("a frame with too few bytes for " + (from + count) + " samples of " + channels
                    + " channels", "as many as it says");
        }
        return plane;
    }

    void copy(Decoder frame, int channel, int channels, int from, int count, MemorySegment out, long offset,
            long stepBytes) {
        long plane = plane(frame, channel, channels, from, count);
        int step = isPlanar ? bytes : bytes * channels;
        long first = plane + (isPlanar ? 0 : (long) channel * bytes) + (long) from * step;
        if (this == F32_PLANES && stepBytes == Float.BYTES) {
            MemorySegment.copy(Native.ALL, first, out, offset, (long) count * Float.BYTES);
            return;
        }
        Room room = frame.room();
        for (int done = 0; done < count; done += Room.SAMPLES) {
            int part = Math.min(Room.SAMPLES, count - done);
            load(room, first + (long) done * step, step, part, channel);
            if (stepBytes == Float.BYTES) {
                MemorySegment.copy(room.floats, 0, out, JAVA_FLOAT_UNALIGNED, offset + done * stepBytes, part);
            } else {
                for (int i = 0; i < part; i++) {
                    out.set(JAVA_FLOAT_UNALIGNED, offset + (done + i) * stepBytes, room.floats[i]);
                }
            }
        }
    }

    /** Where a run of samples is converted: on the heap, where loops are vectorized. */
    static final class Room {

        static final int SAMPLES = 1024;

        private final short[] shorts = new short[SAMPLES];
        private final int[] integers = new int[SAMPLES];
        private final float[] floats = new float[SAMPLES];
    }

    private void load(Room room, long first, int step, int count, int channel) {
        boolean isAdjacent = step <= 2 * bytes;
        int channels = step / bytes;
        if (isAdjacent && channels == 1 && (this == S16 || this == S16_PLANES)) {
            MemorySegment.copy(Native.ALL, JAVA_SHORT_UNALIGNED, first, room.shorts, 0, count);
            ofShorts(room.shorts, room.floats, count);
        } else if (isAdjacent && this == S16) {
            MemorySegment.copy(Native.ALL, JAVA_INT_UNALIGNED, first - (long) channel * bytes, room.integers, 0, count);
            ofPairs(room.integers, channel == 0 ? Short.SIZE : 0, room.floats, count);
        } else if (isAdjacent && (this == S32 || this == S32_PLANES)) {
            if (channels == 1) {
                MemorySegment.copy(Native.ALL, JAVA_INT_UNALIGNED, first, room.integers, 0, count);
                ofIntegers(room.integers, room.floats, count);
            } else {
                ofEveryOther(first, room.floats, count);
            }
        } else {
            for (int i = 0; i < count; i++) {
                room.floats[i] = value(first + (long) i * step);
            }
        }
    }

    private static void ofShorts(short[] from, float[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i] * 0x1p-15f;
        }
    }

    /** One of two shorts of an integer: what reads every other short, the JIT compiler does not vectorize. */
    private static void ofPairs(int[] from, int left, float[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = (from[i] << left >> Short.SIZE) * 0x1p-15f;
        }
    }

    private static void ofIntegers(int[] from, float[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i] * 0x1p-31f;
        }
    }

    /** Integers with one between them are read where they are: they are not vectorized either way. */
    private static void ofEveryOther(long first, float[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = Native.ALL.get(JAVA_INT_UNALIGNED, first + 2L * Integer.BYTES * i) * 0x1p-31f;
        }
    }

    private float value(long at) {
        MemorySegment memory = Native.ALL;
        return switch (this) {
            case U8, U8_PLANES -> ((memory.get(JAVA_BYTE, at) & 0xFF) - 0x80) * 0x1p-7f;
            case S16, S16_PLANES -> memory.get(JAVA_SHORT_UNALIGNED, at) * 0x1p-15f;
            case S32, S32_PLANES -> memory.get(JAVA_INT_UNALIGNED, at) * 0x1p-31f;
            case F32, F32_PLANES -> memory.get(JAVA_FLOAT_UNALIGNED, at);
            case F64, F64_PLANES -> (float) memory.get(JAVA_DOUBLE_UNALIGNED, at);
            case S64, S64_PLANES -> memory.get(JAVA_LONG_UNALIGNED, at) * 0x1p-63f;
        };
    }
}
