// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the members of a tar one after another: POSIX ustar, pax, GNU and version 7. Each header tells its format.
 *
 * <pre>{@code
 *   0 name 100 | 100 mode 8 | 108 uid 8 | 116 gid 8 | 124 size 12 | 136 mtime 12 | 148 checksum 8 | 156 type 1
 * 157 link name 100 | 257 "ustar" NUL "00" 8 | 265 user 32 | 297 group 32 | 329 device 16 | 345 prefix 155 | 12 unused
 * }</pre>
 *
 * <p>A member's data follows its header, padded to blocks of 512 bytes. Extended headers may precede the header: pax
 * records (type {@code x}), or GNU's long name ({@code L}). If several set the same property, the first one counts, as
 * in Python's {@code tarfile}. As there, the tar ends at the first block of zeros, or at the end of the file between
 * two members.
 *
 * <p>Names are bytes, not paths: they are never opened.
 */
final class TarReader {

    static final int BLOCK_BYTES = 512;

    /** The most bytes of an extended header: names and attributes of one member. */
    private static final int MAX_EXTENDED_BYTES = 1 << 20;
    private static final int NAME_BYTES = 100;
    private static final int SIZE_AT = 124;
    private static final int SIZE_BYTES = 12;
    private static final int CHECKSUM_AT = 148;
    private static final int CHECKSUM_BYTES = 8;
    private static final int TYPE_AT = 156;
    private static final int MAGIC_AT = 257;
    private static final byte[] ZEROS = new byte[BLOCK_BYTES];
    private static final byte[] USTAR = {'u', 's', 't', 'a', 'r', 0};
    private static final int PREFIX_AT = 345;
    private static final int PREFIX_BYTES = 155;

    private final Location file;
    private final TarSource source;
    private final byte[] header = new byte[BLOCK_BYTES];

    private byte[] name = new byte[PREFIX_BYTES + 1 + NAME_BYTES];
    private int nameBytes;
    private boolean regular;
    private long entryOffset;
    private long dataOffset;
    private long dataBytes;
    private long nextHeader;

    /** What the extended headers say of the next member. */
    private byte @Nullable [] extendedName;
    private long extendedSize;

    /** Creates a reader of a tar whose source is at a member's header or its first extended header. */
    TarReader(Location file, TarSource source) {
        this.file = file;
        this.source = source;
        this.nextHeader = source.position();
    }

    /** The member's name: the first {@link #nameBytes} bytes; overwritten by {@link #next}. */
    byte[] name() {
        return name;
    }

    int nameBytes() {
        return nameBytes;
    }

    String nameText() {
        return new String(name, 0, nameBytes, StandardCharsets.UTF_8);
    }

    /** Tells whether the member is a file, not a folder, link or device. */
    boolean isRegular() {
        return regular;
    }

    /** Returns the offset of the member's first header. */
    long entryOffset() {
        return entryOffset;
    }

    /** Returns the offset of the member's data; the source is there after {@link #next}. */
    long dataOffset() {
        return dataOffset;
    }

    long dataBytes() {
        return dataBytes;
    }

    /** Goes to the next member; false at the tar's end. */
    boolean next() throws IOException {
        skipTo(nextHeader);
        entryOffset = nextHeader;
        extendedName = null;
        extendedSize = -1;
        while (readHeader()) {
            long headerAt = source.position() - BLOCK_BYTES;
            long size = size(headerAt);
            switch (header[TYPE_AT]) {
                case 'L' -> keepName(longName(size));
                case 'K' -> extended(size, "the long link name");
                case 'x', 'X' -> readRecords(size, headerAt, false);
                case 'g' -> {
                    readRecords(size, headerAt, true);
                    // It is about all following members and belongs to none: the member begins after it.
                    if (extendedName == null && extendedSize < 0) {
                        entryOffset = source.position();
                    }
                }
                default -> {
                    member(size, headerAt);
                    return true;
                }
            }
        }
        if (extendedName != null || extendedSize >= 0) {
            throw new MalformedStoreException(file, source.position(), "the tar ends after an extended header",
                    "the header of the member that it speaks of");
        }
        return false;
    }

    private void member(long headerSize, long headerAt) throws IOException {
        int type = header[TYPE_AT];
        int shortName = zeroTerminated(header, 0, NAME_BYTES);
        regular = type == '0' || type == '7' || type == 0 && (shortName == 0 || header[shortName - 1] != '/');
        if (type == 'S') {
            throw sparse(headerAt);
        }
        name(shortName);
        long size = extendedSize >= 0 ? extendedSize : headerSize;
        boolean folderOrLink = type >= '1' && type <= '6' || type == 0 && !regular;
        dataOffset = source.position();
        dataBytes = folderOrLink ? 0 : size;
        if (dataBytes > Long.MAX_VALUE - BLOCK_BYTES - dataOffset) {
            throw new MalformedStoreException(file, headerAt + SIZE_AT, "a member of " + dataBytes + " bytes",
                    "at most what the tar has");
        }
        nextHeader = dataOffset + padded(dataBytes);
    }

    private void name(int shortName) {
        if (extendedName != null) {
            keep(extendedName, extendedName.length, 0);
            return;
        }
        // Only POSIX headers have a prefix there: GNU has times, version 7 nothing.
        int prefix = isUstar() ? zeroTerminated(header, PREFIX_AT, PREFIX_BYTES) : 0;
        if (prefix > 0) {
            System.arraycopy(header, PREFIX_AT, name, 0, prefix);
            name[prefix] = '/';
            prefix++;
        }
        keep(header, shortName, prefix);
    }

    private void keep(byte[] bytes, int length, int at) {
        if (name.length < at + length) {
            name = Arrays.copyOf(name, at + length);
        }
        System.arraycopy(bytes, 0, name, at, length);
        nameBytes = at + length;
    }

    private boolean isUstar() {
        return Arrays.equals(header, MAGIC_AT, MAGIC_AT + USTAR.length, USTAR, 0, USTAR.length);
    }

    private static int zeroTerminated(byte[] bytes, int at, int length) {
        int end = indexOf(bytes, at, at + length, '\0');
        return end < 0 ? length : end - at;
    }

    /** Reads a header's block and checks it; false at the tar's end. */
    private boolean readHeader() throws IOException {
        long at = source.position();
        int read = source.read(header, 0, BLOCK_BYTES);
        if (read == 0 && at == 0) {
            throw new MalformedStoreException(file, 0, "an empty file", "a tar");
        }
        if (Arrays.equals(header, 0, read, ZEROS, 0, read)) {
            return false;
        }
        if (read < BLOCK_BYTES) {
            throw new MalformedStoreException(file, at + read, "the tar ends inside a header",
                    "a header of " + BLOCK_BYTES + " bytes");
        }
        long stored = number(header, CHECKSUM_AT, CHECKSUM_BYTES);
        if (stored < 0 || !isChecksum(stored, header)) {
            throw new MalformedStoreException(file, at + CHECKSUM_AT, "a header with "
                    + (stored < 0 ? "no checksum" : "the checksum " + stored), checksum(header, 0xFF)
                    + " (is this a tar?)");
        }
        return true;
    }

    /** Returns the sum of a header's bytes, with blanks in place of the checksum; old writers added signed bytes. */
    private static long checksum(byte[] header, int mask) {
        long sum = 0;
        for (int i = 0; i < BLOCK_BYTES; i++) {
            sum += (i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_BYTES ? ' ' : header[i]) & mask;
        }
        return sum;
    }

    /** Tells whether bytes begin with a header that has its checksum. */
    static boolean isHeader(byte[] bytes) {
        if (bytes.length < BLOCK_BYTES) {
            return false;
        }
        long stored = number(bytes, CHECKSUM_AT, CHECKSUM_BYTES);
        return stored > 0 && isChecksum(stored, bytes);
    }

    private static boolean isChecksum(long stored, byte[] header) {
        return stored == checksum(header, 0xFF) || stored == checksum(header, -1);
    }

    private long size(long headerAt) throws IOException {
        long size = number(header, SIZE_AT, SIZE_BYTES);
        if (size < 0) {
            throw new MalformedStoreException(file, headerAt + SIZE_AT, "a size that is no number",
                    "octal digits, or base 256");
        }
        return size;
    }

    /**
     * Reads a number: octal digits among blanks up to a zero byte, or GNU tar's form for larger numbers, base 256 after
     * the byte 0x80. Returns -1 if there is none, or it is negative or exceeds a long.
     */
    private static long number(byte[] header, int at, int length) {
        if (header[at] < 0) {
            return base256(header, at, length);
        }
        int from = at;
        int to = at + zeroTerminated(header, at, length);
        while (from < to && isBlank(header[from])) {
            from++;
        }
        while (to > from && isBlank(header[to - 1])) {
            to--;
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            int digit = header[i] - '0';
            if (digit < 0 || digit > 7) {
                return -1;
            }
            number = number << 3 | digit;
        }
        return number;
    }

    private static long base256(byte[] header, int at, int length) {
        if (header[at] != (byte) 0x80) {
            return -1;
        }
        long number = 0;
        for (int i = 1; i < length; i++) {
            if (number > Long.MAX_VALUE >> 8) {
                return -1;
            }
            number = number << 8 | header[at + i] & 0xFF;
        }
        return number;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r';
    }

    private byte[] longName(long size) throws IOException {
        byte[] bytes = extended(size, "the long name");
        return Arrays.copyOf(bytes, zeroTerminated(bytes, 0, bytes.length));
    }

    private void keepName(byte[] bytes) {
        if (extendedName == null) {
            extendedName = bytes;
        }
    }

    private byte[] extended(long size, String what) throws IOException {
        if (size > MAX_EXTENDED_BYTES) {
            throw new MalformedStoreException(file, source.position() - BLOCK_BYTES + SIZE_AT,
                    what + " of a member has " + size + " bytes", "at most " + MAX_EXTENDED_BYTES);
        }
        byte[] bytes = new byte[(int) size];
        int read = source.read(bytes, 0, bytes.length);
        if (read < bytes.length) {
            throw endsInside(what + " of a member");
        }
        skipTo(source.position() + padded(size) - size);
        return bytes;
    }

    /** Reads pax records: {@code "<length> <key>=<value>\n"}; the length includes itself and the line end. */
    private void readRecords(long size, long headerAt, boolean global) throws IOException {
        byte[] bytes = extended(size, "the pax header");
        byte[] recordName = null;
        for (int at = 0; at < bytes.length && bytes[at] != 0;) {
            int space = indexOf(bytes, at, bytes.length, ' ');
            long length = decimal(bytes, at, space);
            int equals = space < 0 ? -1 : indexOf(bytes, space, bytes.length, '=');
            if (length < 0 || equals < 0 || length > bytes.length - at || equals >= at + length - 1
                    || bytes[at + (int) length - 1] != '\n') {
                throw new MalformedStoreException(file, headerAt + BLOCK_BYTES + at, "no pax record",
                        "its length, a blank, a key, '=', a value and a line's end");
            }
            String key = new String(bytes, space + 1, equals - space - 1, StandardCharsets.UTF_8);
            int end = at + (int) length - 1;
            if (equals + 1 < end) {
                if (key.startsWith("GNU.sparse.")) {
                    throw sparse(headerAt);
                } else if (key.equals("path") && !global) {
                    recordName = Arrays.copyOfRange(bytes, equals + 1, end);
                } else if (key.equals("size") && !global) {
                    keepSize(bytes, equals + 1, end, headerAt + BLOCK_BYTES);
                } else if (key.equals("path") || key.equals("size")) {
                    throw new MalformedStoreException(file, headerAt + BLOCK_BYTES + at,
                            "one " + key + " for all members", "one for each");
                }
            }
            at = end + 1;
        }
        if (recordName != null) {
            keepName(recordName);
        }
    }

    private void keepSize(byte[] bytes, int from, int to, long recordsAt) throws IOException {
        long size = decimal(bytes, from, to);
        if (size < 0) {
            throw new MalformedStoreException(file, recordsAt + from, "a size that is no number", "decimal digits");
        }
        if (extendedSize < 0) {
            extendedSize = size;
        }
    }

    private static int indexOf(byte[] bytes, int from, int to, char c) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == c) {
                return i;
            }
        }
        return -1;
    }

    /** Reads a number of decimal digits; returns -1 if there is none, or it exceeds a long. */
    private static long decimal(byte[] bytes, int from, int to) {
        if (to <= from) {
            return -1;
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
                return -1;
            }
            number = number * 10 + digit;
        }
        return number;
    }

    private void skipTo(long position) throws IOException {
        if (!source.skip(position - source.position())) {
            throw endsInside("the member '" + nameText() + "'");
        }
    }

    private MalformedStoreException endsInside(String what) {
        return new MalformedStoreException(file, source.position(), "the tar ends inside " + what,
                "whole members, padded to blocks of " + BLOCK_BYTES + " bytes");
    }

    private MalformedStoreException sparse(long headerAt) {
        return new MalformedStoreException(file, headerAt, "a sparse member", "members that are stored whole");
    }

    static long padded(long bytes) {
        return bytes + BLOCK_BYTES - 1 & -BLOCK_BYTES;
    }
}
