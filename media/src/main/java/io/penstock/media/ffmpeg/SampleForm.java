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

    void copy(Decoder frame, int channel, int channels, int from, int count, MemorySegment out, long offset,
            long stepBytes) {
        Objects.checkFromIndexSize(from, count, frame.samples());
        long plane = frame.plane(isPlanar ? channel : 0);
        int step = isPlanar ? bytes : bytes * channels;
        if (plane == 0 || (long) (from + count) * step > frame.lineBytes(0)) {
            throw new CodecException("a frame with fewer than " + channels + " channels", "as many as before");
        }
        long first = plane + (isPlanar ? 0 : (long) channel * bytes) + (long) from * step;
        // A loop for each form: a choice within would be made again for each sample.
        switch (this) {
            case U8, U8_PLANES -> {
                for (int i = 0; i < count; i++) {
                    int value = Native.ALL.get(JAVA_BYTE, first + (long) i * step) & 0xFF;
                    set(out, offset + i * stepBytes, (value - 0x80) * 0x1p-7f);
                }
            }
            case S16, S16_PLANES -> {
                for (int i = 0; i < count; i++) {
                    set(out, offset + i * stepBytes, Native.ALL.get(JAVA_SHORT_UNALIGNED, first + (long) i * step)
                            * 0x1p-15f);
                }
            }
            case S32, S32_PLANES -> {
                for (int i = 0; i < count; i++) {
                    set(out, offset + i * stepBytes, Native.ALL.get(JAVA_INT_UNALIGNED, first + (long) i * step)
                            * 0x1p-31f);
                }
            }
            case F32, F32_PLANES -> {
                for (int i = 0; i < count; i++) {
                    set(out, offset + i * stepBytes, Native.ALL.get(JAVA_FLOAT_UNALIGNED, first + (long) i * step));
                }
            }
            case F64, F64_PLANES -> {
                for (int i = 0; i < count; i++) {
                    set(out, offset + i * stepBytes,
                            (float) Native.ALL.get(JAVA_DOUBLE_UNALIGNED, first + (long) i * step));
                }
            }
            case S64, S64_PLANES -> {
                for (int i = 0; i < count; i++) {
                    set(out, offset + i * stepBytes, Native.ALL.get(JAVA_LONG_UNALIGNED, first + (long) i * step)
                            * 0x1p-63f);
                }
            }
        }
    }

    private static void set(MemorySegment out, long offset, float value) {
        out.set(JAVA_FLOAT_UNALIGNED, offset, value);
    }
}
