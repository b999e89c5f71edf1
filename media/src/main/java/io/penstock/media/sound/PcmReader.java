// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.media.sound.PcmHeader.Form;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Reads uncompressed sound, any part of it without the rest: WAV, RF64 and BW64, AIFF and AIFF-C, with integers of 8,
 * 16, 24 and 32 bits, floats of 32 and 64, A-law and mu-law. Needs no library.
 *
 * {@snippet :
 * var reader = new PcmReader();
 * if (reader.open(stored, storedBytes)) {                             // mapped: only the header is read
 *     reader.read(3L * reader.rate(), reader.rate(), target, 0);      // the fourth second, f32[rate, channels]
 * }
 * }
 *
 * <p>Integers become values from -1 to below 1: n bits are divided by {@code 2^(n - 1)}; the laws are those of ITU-T
 * G.711, of 16 bits. For one thread; a reader is used for one file after another, and allocates nothing.
 */
public final class PcmReader {

    private static final ValueLayout.OfShort LITTLE_SHORT = LittleEndian.I16;
    private static final ValueLayout.OfShort BIG_SHORT = LITTLE_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt LITTLE_INT = LittleEndian.I32;
    private static final ValueLayout.OfInt BIG_INT = LITTLE_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfFloat LITTLE_FLOAT = LittleEndian.F32;
    private static final ValueLayout.OfFloat BIG_FLOAT = LITTLE_FLOAT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfDouble LITTLE_DOUBLE = LittleEndian.F64;
    private static final ValueLayout.OfDouble BIG_DOUBLE = LITTLE_DOUBLE.withOrder(ByteOrder.BIG_ENDIAN);

    private static final int BLOCK = 2048;
    private static final float[] A_LAW = new float[256];
    private static final float[] MU_LAW = new float[256];

    static {
        for (int code = 0; code < 256; code++) {
            A_LAW[code] = (float) aLaw(code) / (1 << 15);
            MU_LAW[code] = (float) muLaw(code) / (1 << 15);
        }
    }

    private final PcmHeader header = new PcmHeader();
    private final byte[] bytes = new byte[3 * BLOCK];
    private final short[] shorts = new short[BLOCK];
    private final int[] ints = new int[BLOCK];
    private final double[] doubles = new double[BLOCK];
    private final float[] floats = new float[BLOCK];
    private MemorySegment file = MemorySegment.NULL;

    /** Creates a reader without a file. */
    public PcmReader() {
    }

    private static int aLaw(int code) {
        int changed = code ^ 0x55;
        int segment = changed >> 4 & 7;
        int value = (changed & 15) << 4;
        value = segment == 0 ? value + 8 : value + 0x108 << segment - 1;
        return (changed & 0x80) == 0 ? -value : value;
    }

    private static int muLaw(int code) {
        int changed = ~code;
        int value = ((changed & 15) << 3) + 0x84 << (changed >> 4 & 7);
        return (changed & 0x80) == 0 ? value - 0x84 : 0x84 - value;
    }

    /**
     * Reads a file's header.
     *
     * @param memory memory that starts with the file, which may be mapped; must stay valid until the next call
     * @param size the file's bytes
     * @return whether it is uncompressed sound; false for other files, and for WAV and AIFF of other encodings
     * @throws CodecException if it is such a file, and damaged or cut short: tells at which byte
     */
    public boolean open(MemorySegment memory, long size) {
        Objects.checkFromIndexSize(0, size, memory.byteSize());
        file = memory;
        return header.parse(memory, size);
    }

    /** {@return samples of a channel in a second} */
    public int rate() {
        return header.rate;
    }

    /** {@return the number of channels, 1 to 64} */
    public int channels() {
        return header.channels;
    }

    /** {@return the number of samples of each channel} */
    public long samples() {
        return header.samples;
    }

    /**
     * Reads some samples of all channels.
     *
     * @param first the first sample's number
     * @param count how many
     * @param out receives {@code f32[count, channels]}
     * @param outOffset the first byte to write
     * @throws IndexOutOfBoundsException if the file has no such samples, or {@code out} no room for them
     */
    public void read(long first, long count, MemorySegment out, long outOffset) {
        Objects.checkFromIndexSize(first, count, header.samples);
        long values = count * header.channels;
        long from = header.offset + first * header.channels * header.form.bytes;
        if (header.form == Form.F32 && !header.isBigEndian) {
            MemorySegment.copy(file, from, out, outOffset, values * Float.BYTES);
            return;
        }
        for (long done = 0; done < values; done += BLOCK) {
            int more = (int) Math.min(BLOCK, values - done);
            convert(from + done * header.form.bytes, more);
            Samples.write(floats, 0, more, out, outOffset + done * Float.BYTES);
        }
    }

    private void convert(long from, int count) {
        boolean isBig = header.isBigEndian;
        switch (header.form) {
            case U8 -> bytes(from, count, 128);
            case S8 -> bytes(from, count, 0);
            case A_LAW -> law(from, count, A_LAW);
            case MU_LAW -> law(from, count, MU_LAW);
            case S16 -> {
                MemorySegment.copy(file, isBig ? BIG_SHORT : LITTLE_SHORT, from, shorts, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[i] = (float) shorts[i] * 0x1p-15f;
                }
            }
            case S24 -> threeBytes(from, count);
            case S32 -> {
                MemorySegment.copy(file, isBig ? BIG_INT : LITTLE_INT, from, ints, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[i] = (float) ints[i] * 0x1p-31f;
                }
            }
            case F32 -> MemorySegment.copy(file, isBig ? BIG_FLOAT : LITTLE_FLOAT, from, floats, 0, count);
            case F64 -> {
                MemorySegment.copy(file, isBig ? BIG_DOUBLE : LITTLE_DOUBLE, from, doubles, 0, count);
                for (int i = 0; i < count; i++) {
                    floats[i] = (float) doubles[i];
                }
            }
        }
    }

    private void bytes(long from, int count, int zero) {
        MemorySegment.copy(file, JAVA_BYTE, from, bytes, 0, count);
        int mask = zero == 0 ? -1 : 0xFF;
        for (int i = 0; i < count; i++) {
            floats[i] = (float) ((bytes[i] & mask) - zero) * 0x1p-7f;
        }
    }

    private void law(long from, int count, float[] table) {
        MemorySegment.copy(file, JAVA_BYTE, from, bytes, 0, count);
        for (int i = 0; i < count; i++) {
            floats[i] = table[bytes[i] & 0xFF];
        }
    }

    private void threeBytes(long from, int count) {
        MemorySegment.copy(file, JAVA_BYTE, from, bytes, 0, 3 * count);
        int low = header.isBigEndian ? 2 : 0;
        for (int i = 0, at = 0; i < count; i++, at += 3) {
            int value = bytes[at + 2 - low] << 16 | (bytes[at + 1] & 0xFF) << 8 | bytes[at + low] & 0xFF;
            floats[i] = (float) value * 0x1p-23f;
        }
    }
}
