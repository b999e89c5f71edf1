// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/**
 * Decodes FLAC without a library, so that files that nobody trusts need no process of their own. For one thread, which
 * uses it for one file after another; allocates nothing once it is warm.
 *
 * <pre>
 * "fLaC", blocks: isLast:1 type:7 bytes:24; the first is STREAMINFO, which says blocks' greatest length, rate,
 *     channels, bits and number of samples
 * frame:    header, a subframe for each channel, padding to a byte, CRC-16 of all before
 * subframe: 0:1 type:6 wasted:1 …, first samples as they are, residuals of a linear prediction in Rice codes
 * </pre>
 *
 * <p>It reads a whole file, after {@link #open(MemorySegment, long)}, or single frames that an index knows, after
 * {@link #takes}. Source: RFC 9639. The CRC-16 of each frame is checked, the MD5 of all samples is not.
 */
final class FlacReader implements PlainSound {

    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort BIG_SHORT = I16.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_INT = I32.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong BIG_LONG = I64.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int MAGIC = 0x664C6143;
    private static final int FIRST_BLOCK = 4;
    private static final int BLOCK_HEADER_BYTES = 4;
    private static final int IS_LAST = 1 << 31;
    private static final int STREAMINFO_BYTES = 34;
    private static final int MOST_BITS = 24;
    private static final int MOST_ORDER = 32;
    /** No frame is shorter: header, a constant subframe, CRC-16. */
    private static final int LEAST_FRAME_BYTES = 9;
    /** A long is read up to seven bytes behind the next bit. */
    private static final int PADDING_BYTES = 16;
    private static final int SYNC = 0x3FFE;
    /** Channel assignments: left and side, side and right, middle and side. */
    private static final int LEFT_SIDE = 8;
    private static final int SIDE_RIGHT = 9;
    private static final int MIDDLE_SIDE = 10;
    private static final int[] SAMPLE_BITS = {0, 8, 12, -1, 16, 20, 24, 32};
    private static final int[][] FIXED = {{}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
    /** Of a byte that 0 to 7 others follow: what it adds to the CRC. */
    private static final char[] CRC = crcTable();

    private MemorySegment file = MemorySegment.NULL;
    private long size;
    private int rate;
    private int channels;
    private int sampleBits;
    private int mostSamples;
    private long total;
    /** The samples that were decoded, and those of the last frame. */
    private long done;
    private int count;

    /** Bytes of the file from a place on, with zeros behind. */
    private byte[] bytes = {};
    private long from;
    private int end;
    /** The next bits, the first on top; how many they are at least; the next byte behind them. */
    private long bits;
    private int bitCount;
    private int at;

    /** Samples of each channel, behind as many zeros as a prediction looks back. */
    private int[][] samples = {};
    private final int[] weights = new int[MOST_ORDER];
    private float[] values = {};

    private static char[] crcTable() {
        char[] table = new char[8 * 256];
        for (int i = 0; i < table.length; i++) {
            int crc = i < 256 ? i << 8 : table[i - 256];
            for (int bit = 0; bit < 8; bit++) {
                crc = crc << 1 ^ ((crc & 0x8000) == 0 ? 0 : 0x8005);
            }
            table[i] = (char) crc;
        }
        return table;
    }

    /**
     * Reads a file's header.
     *
     * @param memory memory that starts with the file; must stay valid while it is read
     * @param fileBytes the file's size
     * @return whether this reads it: FLAC that says how many samples it has, of at most 24 bits
     */
    @Override
    public boolean open(MemorySegment memory, long fileBytes) {
        Objects.checkFromIndexSize(0, fileBytes, memory.byteSize());
        file = memory;
        size = fileBytes;
        if (size < FIRST_BLOCK + BLOCK_HEADER_BYTES + STREAMINFO_BYTES || file.get(BIG_INT, 0) != MAGIC
                || (file.get(BIG_INT, FIRST_BLOCK) & ~IS_LAST) != STREAMINFO_BYTES) {
            return false;
        }
        return readStreamInfo(memory, FIRST_BLOCK + BLOCK_HEADER_BYTES) && total > 0
                && total <= size / LEAST_FRAME_BYTES * mostSamples;
    }

    /** Reads STREAMINFO and returns whether frames of its kind can be decoded. */
    private boolean readStreamInfo(MemorySegment memory, long offset) {
        mostSamples = memory.get(BIG_SHORT, offset + 2) & 0xFFFF;
        long said = memory.get(BIG_LONG, offset + 10);
        rate = (int) (said >>> 44);
        channels = (int) (said >>> 41 & 7) + 1;
        sampleBits = (int) (said >>> 36 & 31) + 1;
        total = said & (1L << 36) - 1;
        return mostSamples > 0 && rate > 0 && sampleBits >= 4 && sampleBits <= MOST_BITS;
    }

    /**
     * Prepares decoding of single frames by {@link #frame}, if this reads those of a stream: of at most 24 bits.
     *
     * @param memory memory with the stream's parameters
     * @param offset their first byte
     * @param bytes how many they are
     * @param expected the channels that the stream must have
     * @return whether this reads them
     */
    boolean takes(MemorySegment memory, long offset, int bytes, int expected) {
        if (bytes < STREAMINFO_BYTES || !readStreamInfo(memory, offset) || channels != expected) {
            return false;
        }
        makeRoom();
        return true;
    }

    @Override
    public int rate() {
        return rate;
    }

    @Override
    public int channels() {
        return channels;
    }

    @Override
    public long samples() {
        return total;
    }

    @Override
    public void read(boolean isMean, MemorySegment out, long outOffset) {
        int width = isMean ? 1 : channels;
        long to = outOffset;
        start();
        while (next() > 0) {
            if (values.length < count * width) {
                values = new float[count * width];
            }
            if (isMean) {
                copyMean(values);
            } else {
                for (int channel = 0; channel < width; channel++) {
                    copy(channel, values, channel, width);
                }
            }
            MemorySegment.copy(values, 0, out, JAVA_FLOAT_UNALIGNED, to, count * width);
            to += (long) count * width * Float.BYTES;
        }
    }

    /** Goes to the first frame of the file that was opened. */
    void start() {
        long block = FIRST_BLOCK;
        for (boolean isLast = false; !isLast;) {
            if (block + BLOCK_HEADER_BYTES > size) {
                throw new CodecException("a header that ends at byte " + size, "a whole file");
            }
            int header = file.get(BIG_INT, block);
            isLast = header < 0;
            block += BLOCK_HEADER_BYTES + (header & 0xFFFFFF);
        }
        from = block;
        end = 0;
        at = 0;
        done = 0;
        makeRoom();
    }

    private void makeRoom() {
        int room = MOST_ORDER + mostSamples;
        if (samples.length < channels || samples[0].length < room) {
            samples = new int[Math.max(channels, samples.length)][samples.length == 0 ? room
                    : Math.max(room, samples[0].length)];
        }
    }

    /**
     * Decodes the next frame.
     *
     * @return how many samples of each channel it has; 0 at the end
     * @throws CodecException if it is damaged
     */
    int next() {
        if (done == total) {
            return 0;
        }
        fill(mostFrameBytes());
        checkedFrame();
        done += count;
        if (done > total) {
            throw new CodecException("over " + total + " samples", "as many as the file says");
        }
        return count;
    }

    /** A frame that is longer than its samples would be is not read to its end, which gives a wrong CRC. */
    private int mostFrameBytes() {
        return (int) Math.min(Integer.MAX_VALUE / 2, 64 + 2L * mostSamples * channels * (sampleBits + 8) / 8);
    }

    /**
     * Decodes the frame of a packet of an index.
     *
     * @param table has the packet
     * @param packet its first piece
     * @param memory memory with the file
     * @param offset the file's first byte
     * @return how many samples of each channel it has
     * @throws CodecException if it is damaged
     */
    int frame(SoundTable table, int packet, MemorySegment memory, long offset) {
        at = 0;
        end = 0;
        from = table.position[packet];
        int behind = table.next(packet);
        for (int piece = packet; piece < behind; piece++) {
            append(memory, offset + table.position[piece], table.size[piece]);
        }
        Arrays.fill(bytes, end, end + PADDING_BYTES, (byte) 0);
        bits = 0;
        bitCount = 0;
        checkedFrame();
        return count;
    }

    private void append(MemorySegment memory, long offset, int size) {
        int more = Math.min(size, mostFrameBytes() - end);
        if (bytes.length < end + more + PADDING_BYTES) {
            bytes = Arrays.copyOf(bytes, Math.max(end + more + PADDING_BYTES, 2 * bytes.length));
        }
        MemorySegment.copy(memory, JAVA_BYTE, offset, bytes, end, more);
        end += more;
    }

    private void checkedFrame() {
        long first = from + at;
        try {
            int start = at;
            decodeFrame();
            at -= bitCount >>> 3;
            int crc = crc(start, at);
            int found = (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
            at += 2;
            if (at > end || crc != found) {
                throw new CodecException("a frame at byte " + first + " whose CRC-16 is " + found, crc
                        + ", that of its bytes");
            }
        } catch (IndexOutOfBoundsException _) {
            throw new CodecException("a frame at byte " + first + " that is cut off", "a whole one");
        }
    }

    /** Reads on if fewer bytes are there than a frame may have, and begins a frame. */
    private void fill(int most) {
        int left = end - at;
        if (left < most && from + end < size) {
            int more = (int) Math.min(Math.max(1 << 16, 4L * most) - left, size - from - end);
            if (bytes.length < left + more + PADDING_BYTES) {
                bytes = Arrays.copyOfRange(bytes, at, at + left + more + PADDING_BYTES);
            } else {
                System.arraycopy(bytes, at, bytes, 0, left);
            }
            MemorySegment.copy(file, JAVA_BYTE, from + end, bytes, left, more);
            from += at;
            at = 0;
            end = left + more;
            Arrays.fill(bytes, end, end + PADDING_BYTES, (byte) 0);
        }
        bits = 0;
        bitCount = 0;
    }

    private void refill() {
        bits |= (long) LONG.get(bytes, at) >>> bitCount;
        at += 63 - bitCount >> 3;
        bitCount |= 56;
    }

    /** Reads up to 32 bits. */
    private int read(int width) {
        refill();
        int value = (int) (bits >>> 1 >>> 63 - width);
        bits <<= width;
        bitCount -= width;
        return value;
    }

    /** Reads up to 32 bits of a number with a sign. */
    private int readSigned(int width) {
        return width == 0 ? 0 : read(width) << 32 - width >> 32 - width;
    }

    private void decodeFrame() {
        if (read(15) >> 1 != SYNC) {
            throw new CodecException("no frame at byte " + (from + at - 7), "one");
        }
        read(1);
        int length = read(4);
        int hertz = read(4);
        int assignment = read(4);
        int width = SAMPLE_BITS[read(3)];
        read(1);
        // The number of the frame or its first sample, as UTF-8 writes it: as many bytes as its leading ones.
        int more = Math.max(0, Integer.numberOfLeadingZeros(~(read(8) << 24)) - 1);
        for (; more > 0; more--) {
            read(8);
        }
        count = switch (length) {
            case 1 -> 192;
            case 2, 3, 4, 5 -> 576 << length - 2;
            case 6 -> read(8) + 1;
            case 7 -> read(16) + 1;
            default -> 256 << length - 8;
        };
        read(hertz == 12 ? 8 : hertz > 12 ? 16 : 0);
        read(8);
        if (length == 0 || count > mostSamples || width != 0 && width != sampleBits
                || (assignment < LEFT_SIDE ? assignment + 1 : assignment <= MIDDLE_SIDE ? 2 : -1) != channels) {
            throw new CodecException("a frame of " + count + " samples, form " + assignment + ", " + width + " bits",
                    "at most " + mostSamples + ", of " + channels + " channels and " + sampleBits + " bits");
        }
        for (int channel = 0; channel < channels; channel++) {
            boolean isSide = channel == 0 && assignment == SIDE_RIGHT
                    || channel == 1 && (assignment == LEFT_SIDE || assignment == MIDDLE_SIDE);
            subframe(samples[channel], sampleBits + (isSide ? 1 : 0));
        }
        if (assignment >= LEFT_SIDE) {
            apart(assignment, samples[0], samples[1], MOST_ORDER + count);
        }
    }

    private static void apart(int assignment, int[] a, int[] b, int end) {
        if (assignment == LEFT_SIDE) {
            for (int i = MOST_ORDER; i < end; i++) {
                b[i] = a[i] - b[i];
            }
        } else if (assignment == SIDE_RIGHT) {
            for (int i = MOST_ORDER; i < end; i++) {
                a[i] += b[i];
            }
        } else {
            for (int i = MOST_ORDER; i < end; i++) {
                int side = b[i];
                int middle = a[i] << 1 | side & 1;
                a[i] = middle + side >> 1;
                b[i] = middle - side >> 1;
            }
        }
    }

    private void subframe(int[] to, int frameBits) {
        int type = read(7);
        int wasted = 0;
        if (read(1) == 1) {
            wasted = 1;
            while (read(1) == 0) {
                wasted++;
            }
        }
        int width = frameBits - wasted;
        if (width < 1) {
            throw new CodecException(wasted + " wasted bits of " + frameBits, "fewer");
        }
        if (type == 0) {
            Arrays.fill(to, MOST_ORDER, MOST_ORDER + count, readSigned(width));
        } else if (type == 1) {
            first(to, count, width);
        } else if (type >= 8 && type <= 12) {
            int order = type - 8;
            first(to, order, width);
            System.arraycopy(FIXED[order], 0, weights, 0, order);
            residuals(to, order);
            predict(to, order, 0, width);
        } else if (type >= 32 && type < 64) {
            int order = type - 31;
            first(to, order, width);
            int precision = read(4) + 1;
            int shift = readSigned(5);
            if (precision == 16 || shift < 0) {
                throw new CodecException("weights of " + precision + " bits, shifted by " + shift,
                        "1 to 15 bits, a shift of 0 or more");
            }
            for (int i = 0; i < order; i++) {
                weights[i] = readSigned(precision);
            }
            residuals(to, order);
            predict(to, order, shift, width);
        } else {
            throw new CodecException("a subframe of the reserved type " + type, "one that is defined");
        }
        if (wasted > 0) {
            for (int i = MOST_ORDER; i < MOST_ORDER + count; i++) {
                to[i] <<= wasted;
            }
        }
    }

    private void first(int[] to, int many, int width) {
        for (int i = 0; i < many; i++) {
            to[MOST_ORDER + i] = readSigned(width);
        }
    }

    private void residuals(int[] to, int order) {
        int method = read(2);
        int partitions = 1 << read(4);
        int length = count / partitions;
        if (method > 1 || length * partitions != count || length < order) {
            throw new CodecException(count + " residuals in " + partitions + " partitions by method " + method,
                    "equal partitions by method 0 or 1, the first of at least " + order);
        }
        int width = method == 0 ? 4 : 5;
        for (int partition = 0; partition < partitions; partition++) {
            int first = MOST_ORDER + (partition == 0 ? order : partition * length);
            int last = MOST_ORDER + (partition + 1) * length;
            int parameter = read(width);
            if (parameter == (1 << width) - 1) {
                int plain = read(5);
                for (int i = first; i < last; i++) {
                    to[i] = readSigned(plain);
                }
            } else {
                rice(to, first, last, parameter);
            }
        }
    }

    /** Reads numbers: a quotient of zeros that a one ends, then bits. */
    private void rice(int[] to, int first, int last, int parameter) {
        byte[] in = bytes;
        long word = bits;
        int have = bitCount;
        int place = at;
        for (int i = first; i < last; i++) {
            if (have < 32) {
                word |= (long) LONG.get(in, place) >>> have;
                place += 63 - have >> 3;
                have |= 56;
            }
            int quotient = Long.numberOfLeadingZeros(word);
            int used = quotient + 1 + parameter;
            if (used > have) {
                bits = word;
                bitCount = have;
                at = place;
                to[i] = longRice(parameter);
                word = bits;
                have = bitCount;
                place = at;
                continue;
            }
            int value = quotient << parameter | (int) (word << quotient << 1 >>> 1 >>> 63 - parameter);
            word <<= used;
            have -= used;
            to[i] = value >>> 1 ^ -(value & 1);
        }
        bits = word;
        bitCount = have;
        at = place;
    }

    private int longRice(int parameter) {
        int quotient = 0;
        while (read(1) == 0) {
            quotient++;
        }
        int value = quotient << parameter | read(parameter);
        return value >>> 1 ^ -(value & 1);
    }

    /** Adds predictions to residuals. */
    private void predict(int[] to, int order, int shift, int width) {
        long sum = 0;
        for (int i = 0; i < order; i++) {
            sum += Math.abs(weights[i]);
        }
        int first = MOST_ORDER + order;
        int last = MOST_ORDER + count;
        if (sum << width - 1 > Integer.MAX_VALUE) {
            predictLong(to, first, last, weights, order, shift);
            return;
        }
        Arrays.fill(weights, order, Math.max(order, 8), 0);
        if (order <= 4) {
            predict4(to, first, last, weights, shift);
        } else {
            predict(to, first, last, weights, order, shift);
        }
    }

    private static void predict4(int[] to, int first, int last, int[] weights, int shift) {
        int a = weights[0];
        int b = weights[1];
        int c = weights[2];
        int d = weights[3];
        int before = to[first - 1];
        for (int i = first; i < last; i++) {
            int rest = b * to[i - 2] + (c * to[i - 3] + d * to[i - 4]);
            before = to[i] + (a * before + rest >> shift);
            to[i] = before;
        }
    }

    /** Up to eight weights cost the same; the sample before is kept, for it is what the next one waits for. */
    private static void predict(int[] to, int first, int last, int[] weights, int order, int shift) {
        int a = weights[0];
        int b = weights[1];
        int c = weights[2];
        int d = weights[3];
        int e = weights[4];
        int f = weights[5];
        int g = weights[6];
        int h = weights[7];
        int before = to[first - 1];
        for (int i = first; i < last; i++) {
            int rest = b * to[i - 2] + c * to[i - 3] + d * to[i - 4]
                    + (e * to[i - 5] + f * to[i - 6] + (g * to[i - 7] + h * to[i - 8]));
            for (int j = 8; j < order; j++) {
                rest += weights[j] * to[i - 1 - j];
            }
            before = to[i] + (a * before + rest >> shift);
            to[i] = before;
        }
    }

    private static void predictLong(int[] to, int first, int last, int[] weights, int order, int shift) {
        for (int i = first; i < last; i++) {
            long sum = 0;
            for (int j = 0; j < order; j++) {
                sum += (long) weights[j] * to[i - 1 - j];
            }
            to[i] += (int) (sum >> shift);
        }
    }

    private int crc(int first, int last) {
        byte[] in = bytes;
        int crc = 0;
        int i = first;
        for (; i + 8 <= last; i += 8) {
            long eight = (long) LONG.get(in, i);
            int rest = CRC[(int) eight & 0xFF] ^ CRC[0x100 | (int) (eight >>> 8) & 0xFF]
                    ^ CRC[0x200 | (int) (eight >>> 16) & 0xFF] ^ CRC[0x300 | (int) (eight >>> 24) & 0xFF]
                    ^ CRC[0x400 | (int) (eight >>> 32) & 0xFF] ^ CRC[0x500 | (int) (eight >>> 40) & 0xFF];
            int begin = crc ^ (int) (eight >>> 48);
            crc = rest ^ CRC[0x600 | begin & 0xFF] ^ CRC[0x700 | begin >> 8];
        }
        for (; i < last; i++) {
            crc = crc << 8 & 0xFFFF ^ CRC[crc >> 8 ^ in[i] & 0xFF];
        }
        return crc;
    }

    /**
     * Copies samples of a channel of the last frame as values from -1 to 1.
     *
     * @param channel its number
     * @param to receives them
     * @param place where the first goes
     * @param step the values from one to the next
     */
    void copy(int channel, float[] to, int place, int step) {
        float unit = 1f / (1 << sampleBits - 1);
        int[] of = samples[channel];
        if (step == 1) {
            for (int i = 0; i < count; i++) {
                to[place + i] = of[MOST_ORDER + i] * unit;
            }
        } else {
            for (int i = 0, out = place; i < count; i++, out += step) {
                to[out] = of[MOST_ORDER + i] * unit;
            }
        }
    }

    /**
     * Copies some samples of a channel of the last frame as values from -1 to 1.
     *
     * @param channel its number
     * @param first the first sample
     * @param last the one behind the last
     * @param out receives them, one behind the other
     * @param outOffset where the first goes
     */
    void copy(int channel, int first, int last, MemorySegment out, long outOffset) {
        if (values.length < count) {
            values = new float[count];
        }
        copy(channel, values, 0, 1);
        MemorySegment.copy(values, first, out, JAVA_FLOAT_UNALIGNED, outOffset, last - first);
    }

    /** Writes the means of the channels of the last frame. */
    void copyMean(float[] to) {
        int[] sums = samples[0];
        for (int channel = 1; channel < channels; channel++) {
            add(sums, samples[channel], MOST_ORDER + count);
        }
        copy(0, to, 0, 1);
        if (channels > 1) {
            divide(to, count, channels);
        }
    }

    private static void add(int[] sums, int[] values, int end) {
        for (int i = MOST_ORDER; i < end; i++) {
            sums[i] += values[i];
        }
    }

    private static void divide(float[] values, int count, float by) {
        for (int i = 0; i < count; i++) {
            values[i] /= by;
        }
    }
}
