// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Finds the samples of a file of uncompressed sound; for one thread, reused for one file after another.
 *
 * <pre>
 * WAV   "RIFF" size "WAVE", chunks: "fmt " tag channels rate bytes-a-second block bits …, "data"     little-endian
 * RF64  "RF64" or "BW64" ffffffff "WAVE", "ds64" riff-size:u64 data-size:u64 …, then as WAV
 * AIFF  "FORM" size "AIFF" or "AIFC", chunks: "COMM" channels count bits rate:f80 [encoding], "SSND"    big-endian
 * </pre>
 *
 * <p>Layouts: Microsoft's and IBM's Multimedia Programming Interface 1.0, EBU Tech 3306, Apple's AIFF-C of 1991.
 */
final class PcmHeader {

    /** How a sample is stored. */
    enum Form {
        U8(1), S8(1), S16(2), S24(3), S32(4), F32(4), F64(8), A_LAW(1), MU_LAW(1);

        final int bytes;

        Form(int bytes) {
            this.bytes = bytes;
        }
    }

    static final int MOST_CHANNELS = 64;
    static final int MOST_RATE = 10_000_000;

    private static final ValueLayout.OfShort BIG_SHORT = I16.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_INT = I32.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong BIG_LONG = I64.withOrder(ByteOrder.BIG_ENDIAN);

    private static final int RIFF = 0x52494646;
    private static final int RF64 = 0x52463634;
    private static final int BW64 = 0x42573634;
    private static final int WAVE = 0x57415645;
    private static final int DS64 = 0x64733634;
    private static final int FMT = 0x666D7420;
    private static final int DATA = 0x64617461;
    private static final int FORM = 0x464F524D;
    private static final int AIFF = 0x41494646;
    private static final int AIFC = 0x41494643;
    private static final int COMM = 0x434F4D4D;
    private static final int SSND = 0x53534E44;

    private static final int HEADER_BYTES = 12;
    private static final int CHUNK_HEADER_BYTES = 8;
    private static final int EXTENSIBLE = 0xFFFE;
    /** The end of the identifiers that stand for a tag of 16 bits. */
    private static final long TAG_IDENTIFIER_LOW = 0x0010000000000000L;
    private static final long TAG_IDENTIFIER_HIGH = 0x719B3800AA000080L;
    private static final long UNKNOWN_SIZE = 0xFFFFFFFFL;

    private MemorySegment file = MemorySegment.NULL;
    private long fileBytes;
    private boolean isOtherEncoding;
    /** Values by {@link #parse}. */
    Form form = Form.U8;
    boolean isBigEndian;
    int channels;
    int rate;
    long samples;
    long offset;

    /**
     * Reads the header of a file.
     *
     * @return whether it is such a file, of an encoding that has a {@link Form}
     * @throws CodecException if it is damaged, with the position
     */
    boolean parse(MemorySegment bytes, long size) {
        file = bytes;
        fileBytes = size;
        isOtherEncoding = false;
        channels = 0;
        offset = 0;
        if (size < HEADER_BYTES) {
            return false;
        }
        int id = file.get(BIG_INT, 0);
        int kind = file.get(BIG_INT, 8);
        if ((id == RIFF || id == RF64 || id == BW64) && kind == WAVE) {
            isBigEndian = false;
            parseWave(id != RIFF);
        } else if (id == FORM && (kind == AIFF || kind == AIFC)) {
            parseAiff(kind == AIFC);
        } else {
            return false;
        }
        return !isOtherEncoding;
    }

    private static CodecException at(long offset, String found, String expected) {
        return new CodecException("at byte " + offset + ": " + found, expected);
    }

    private void require(long from, long bytes, String what) {
        if (bytes > fileBytes - from) {
            throw at(from, what + " of " + bytes + " bytes", "at most " + (fileBytes - from)
                    + ", the rest of the file");
        }
    }

    private void parseWave(boolean has64) {
        long dataBytes = -1;
        for (long at = HEADER_BYTES; at + CHUNK_HEADER_BYTES <= fileBytes;) {
            int id = file.get(BIG_INT, at);
            long size = Integer.toUnsignedLong(file.get(I32, at + 4));
            long body = at + CHUNK_HEADER_BYTES;
            if (id == DATA) {
                parseData(at, body, has64 && size == UNKNOWN_SIZE ? dataBytes : size, !has64 && size == UNKNOWN_SIZE);
                return;
            }
            require(body, size, "a chunk");
            if (id == DS64) {
                checkChunk(at, size, 28);
                dataBytes = file.get(I64, body + 8);
            } else if (id == FMT) {
                checkChunk(at, size, 16);
                parseFormat(body, size);
            }
            at = body + size + (size & 1);
        }
        throw at(fileBytes, "the end of the file", "a chunk 'data'");
    }

    private static void checkChunk(long at, long size, int least) {
        if (size < least) {
            throw at(at + 4, "a chunk of " + size + " bytes", least + " or more");
        }
    }

    private void parseData(long at, long body, long size, boolean isStreamed) {
        if (channels == 0) {
            throw at(at, "a chunk 'data'", "a chunk 'fmt ' before it");
        }
        if (isOtherEncoding) {
            return;
        }
        int block = channels * form.bytes;
        if (isStreamed) {
            samples = (fileBytes - body) / block;
        } else {
            if (size < 0) {
                throw at(at + 4, "samples of unknown size", "one in a chunk 'ds64'");
            }
            require(body, size, "samples");
            samples = size / block;
        }
        offset = body;
    }

    private void parseFormat(long body, long size) {
        int tag = Short.toUnsignedInt(file.get(I16, body));
        channels = checkedChannels(body + 2, Short.toUnsignedInt(file.get(I16, body + 2)));
        rate = checkedRate(body + 4, Integer.toUnsignedLong(file.get(I32, body + 4)));
        int block = Short.toUnsignedInt(file.get(I16, body + 12));
        int bits = Short.toUnsignedInt(file.get(I16, body + 14));
        if (tag == EXTENSIBLE) {
            checkChunk(body - CHUNK_HEADER_BYTES, size, 40);
            long low = file.get(I64, body + 24);
            tag = (low & ~0xFFFFL) == TAG_IDENTIFIER_LOW && file.get(I64, body + 32) == TAG_IDENTIFIER_HIGH
                    ? (int) (low & 0xFFFF) : -1;
        }
        switch (tag) {
            case 1 -> integers(bits, Form.U8);
            case 3 -> floats(bits);
            case 6 -> law(bits, Form.A_LAW);
            case 7 -> law(bits, Form.MU_LAW);
            default -> isOtherEncoding = true;
        }
        if (!isOtherEncoding && block != channels * form.bytes) {
            throw at(body + 12, "blocks of " + block + " bytes", channels * form.bytes + ", as " + channels
                    + " channels of " + bits + " bits have");
        }
    }

    private void integers(int bits, Form ofBytes) {
        switch (bits) {
            case 8 -> form = ofBytes;
            case 16 -> form = Form.S16;
            case 24 -> form = Form.S24;
            case 32 -> form = Form.S32;
            default -> isOtherEncoding = true;
        }
    }

    private void floats(int bits) {
        form = bits == 64 ? Form.F64 : Form.F32;
        isOtherEncoding |= bits != 32 && bits != 64;
    }

    private void law(int bits, Form law) {
        form = law;
        isOtherEncoding |= bits != 8;
    }

    private static int checkedChannels(long at, int found) {
        if (found < 1 || found > MOST_CHANNELS) {
            throw at(at, found + " channels", "1 to " + MOST_CHANNELS);
        }
        return found;
    }

    private static int checkedRate(long at, long found) {
        if (found < 1 || found > MOST_RATE) {
            throw at(at, Long.toUnsignedString(found) + " samples a second", "1 to " + MOST_RATE);
        }
        return (int) found;
    }

    private void parseAiff(boolean hasEncoding) {
        long declared = 0;
        long data = -1;
        long dataBytes = 0;
        for (long at = HEADER_BYTES; at + CHUNK_HEADER_BYTES <= fileBytes && (channels == 0 || data < 0);) {
            int id = file.get(BIG_INT, at);
            long size = Integer.toUnsignedLong(file.get(BIG_INT, at + 4));
            long body = at + CHUNK_HEADER_BYTES;
            require(body, size, "a chunk");
            if (id == COMM) {
                checkChunk(at, size, hasEncoding ? 22 : 18);
                declared = Integer.toUnsignedLong(file.get(BIG_INT, body + 2));
                parseCommon(body, hasEncoding);
            } else if (id == SSND) {
                checkChunk(at, size, 8);
                long skipped = Integer.toUnsignedLong(file.get(BIG_INT, body));
                dataBytes = size - 8 - skipped;
                if (dataBytes < 0) {
                    throw at(body, "samples behind " + skipped + " bytes", "at most " + (size - 8));
                }
                data = body + 8 + skipped;
            }
            at = body + size + (size & 1);
        }
        if (channels == 0 || data < 0 && declared > 0) {
            throw at(fileBytes, "the end of the file", channels == 0 ? "a chunk 'COMM'" : "a chunk 'SSND'");
        }
        if (isOtherEncoding) {
            return;
        }
        if (declared * channels * form.bytes > dataBytes) {
            throw at(Math.max(data, 0), declared + " samples in " + dataBytes + " bytes",
                    declared * channels * form.bytes + " bytes");
        }
        samples = declared;
        offset = Math.max(data, 0);
    }

    private void parseCommon(long body, boolean hasEncoding) {
        channels = checkedChannels(body, Short.toUnsignedInt(file.get(BIG_SHORT, body)));
        int bits = Short.toUnsignedInt(file.get(BIG_SHORT, body + 6));
        rate = checkedRate(body + 8, extended(body + 8));
        isBigEndian = true;
        switch (hasEncoding ? file.get(BIG_INT, body + 18) : 0) {
            case 0, 0x4E4F4E45, 0x74776F73 -> integers(bits, Form.S8);              // NONE, twos
            case 0x736F7774 -> {                                                    // sowt
                isBigEndian = false;
                integers(bits, Form.S8);
            }
            case 0x666C3332, 0x464C3332 -> form = Form.F32;                         // fl32, FL32
            case 0x666C3634, 0x464C3634 -> form = Form.F64;                         // fl64, FL64
            case 0x616C6177, 0x414C4157 -> form = Form.A_LAW;                       // alaw, ALAW
            case 0x756C6177, 0x554C4157 -> form = Form.MU_LAW;                      // ulaw, ULAW
            default -> isOtherEncoding = true;
        }
    }

    /** A whole number as a float of 80 bits; 0 for others. */
    private long extended(long at) {
        int exponent = Short.toUnsignedInt(file.get(BIG_SHORT, at)) - 16_383;
        long mantissa = file.get(BIG_LONG, at + 2);
        if (exponent < 0 || exponent > 62 || mantissa << exponent << 1 != 0) {
            return 0;
        }
        return mantissa >>> 63 - exponent;
    }

}
