// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.codec.decoder.Gzip;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the directory of a zip archive, zip64 included, and checks it against the members:
 *
 * <pre>
 *   {PK 3 4  name, sizes; content}*         members
 *   {PK 1 2  name, sizes, CRC, offset}*     directory; sizes and offset that are ff ff ff ff stand in an extra field
 *   PK 6 6   count, size, offset            the directory's end in 64 bits, and ...
 *   PK 6 7   offset                         ... where that is: zip64 alone
 *   PK 5 6   count, size, offset; comment
 * </pre>
 *
 * <p>The directory has the sizes and checksums, whatever a member's own header leaves to a descriptor behind it.
 * Members may neither overlap nor reach into the directory.
 */
final class ZipDirectory {

    private static final int MEMBER = 0x04034B50;
    private static final int ENTRY = 0x02014B50;
    private static final int END = 0x06054B50;
    private static final int END_64 = 0x06064B50;
    private static final int LOCATOR_64 = 0x07064B50;

    private static final int MEMBER_BYTES = 30;
    private static final int ENTRY_BYTES = 46;
    private static final int END_BYTES = 22;
    private static final int END_64_BYTES = 56;
    private static final int LOCATOR_64_BYTES = 20;
    private static final int MAX_COMMENT_BYTES = 0xFFFF;

    private static final int EXTRA_64 = 1;
    private static final int UTF8_NAME = 1 << 11;
    private static final long MAX_U32 = 0xFFFF_FFFFL;

    /** Code page 437 above 0x7F, the encoding of names that are not UTF-8. */
    private static final String CP437 = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
            + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";

    private record End(long count, long offset, long end) {
    }

    /** A member that starts with its header. */
    private record Placed(ZipMember member, long start) {

        long end() {
            return member.dataOffset() + member.storedBytes();
        }
    }

    private final MappedFile file;
    private final MemorySegment bytes;

    private ZipDirectory(MappedFile file) {
        this.file = file;
        this.bytes = file.segment();
    }

    /** Returns the members of an archive in directory order, without folders, which have no content. */
    static List<ZipMember> read(MappedFile file) {
        return new ZipDirectory(file).members();
    }

    private List<ZipMember> members() {
        End end = end();
        List<Placed> members = new ArrayList<>();
        Set<String> names = new HashSet<>();
        long at = end.offset;
        while (at < end.end) {
            if (end.end - at < ENTRY_BYTES || i32(at) != ENTRY) {
                throw malformed(at, "no entry of the directory", "PK 1 2");
            }
            int nameBytes = u16(at + 28);
            long next = at + ENTRY_BYTES + nameBytes + u16(at + 30) + u16(at + 32);
            if (next > end.end) {
                throw malformed(at, "an entry that reaches to byte " + next, "at most " + end.end
                        + ", where the directory ends");
            }
            Placed placed = member(at, nameBytes, end.offset);
            if (!names.add(placed.member.name())) {
                throw malformed(at, placed.member.inWords() + " again", "each name once");
            }
            members.add(placed);
            at = next;
        }
        if (members.size() != end.count) {
            throw malformed(end.offset, "a directory of " + members.size() + " entries", end.count
                    + ", as its end says");
        }
        checkDisjoint(members);
        return members.stream().map(Placed::member).filter(member -> !member.name().endsWith("/")).toList();
    }

    private End end() {
        long at = findEnd();
        if (u16(at + 4) != 0 || u16(at + 6) != 0 || u16(at + 8) != u16(at + 10)) {
            throw malformed(at + 4, "a part of an archive in several files", "an archive in one");
        }
        long locator = at - LOCATOR_64_BYTES;
        End end = locator >= 0 && i32(locator) == LOCATOR_64 ? end64(locator) : new End(u16(at + 10), u32(at + 16), at);
        long size = end.end == at ? u32(at + 12) : i64(end.end + 40);
        if (end.offset < 0 || size < 0 || size > end.end || end.offset != end.end - size) {
            throw malformed(at, "a directory of " + Long.toUnsignedString(size) + " bytes from byte "
                    + Long.toUnsignedString(end.offset), "one that ends at byte " + end.end);
        }
        return end;
    }

    /** Returns the offset of the end record: the last one whose comment ends the file, otherwise one that fits. */
    private long findEnd() {
        long found = -1;
        long last = bytes.byteSize() - END_BYTES;
        for (long at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at--) {
            if (i32(at) == END) {
                long end = at + END_BYTES + u16(at + 20);
                if (end == bytes.byteSize()) {
                    return at;
                }
                found = found < 0 && end < bytes.byteSize() ? at : found;
            }
        }
        if (found < 0) {
            throw malformed(bytes.byteSize(), "no end of a zip directory", "PK 5 6 (is the file cut?)");
        }
        return found;
    }

    private End end64(long locator) {
        long at = i64(locator + 8);
        if (i32(locator + 4) != 0 || i32(locator + 16) > 1) {
            throw malformed(locator, "a part of an archive in several files", "an archive in one");
        }
        if (at < 0 || at > locator - END_64_BYTES || i32(at) != END_64) {
            throw malformed(locator + 8, "the end of a zip64 directory at byte " + Long.toUnsignedString(at),
                    "PK 6 6 there");
        }
        if (i32(at + 16) != 0 || i32(at + 20) != 0 || i64(at + 24) != i64(at + 32)) {
            throw malformed(at + 16, "a part of an archive in several files", "an archive in one");
        }
        return new End(i64(at + 32), i64(at + 48), at);
    }

    private Placed member(long at, int nameBytes, long directory) {
        int flags = u16(at + 8);
        int method = u16(at + 10);
        String name = name(at + ENTRY_BYTES, nameBytes, flags);
        long[] sizesAndOffset = {u32(at + 24), u32(at + 20), u32(at + 42)};
        readExtra64(at, sizesAndOffset);
        long byteSize = sizesAndOffset[0];
        long storedBytes = sizesAndOffset[1];
        long offset = sizesAndOffset[2];
        String member = "member '" + name + "'";
        if (offset < 0 || offset > directory - MEMBER_BYTES || i32(offset) != MEMBER
                || u16(offset + 26) != nameBytes || offset + MEMBER_BYTES + nameBytes > directory
                || bytes.asSlice(offset + MEMBER_BYTES, nameBytes)
                        .mismatch(bytes.asSlice(at + ENTRY_BYTES, nameBytes)) >= 0) {
            throw malformed(at + 42, member + " at byte " + Long.toUnsignedString(offset), "its header there");
        }
        long dataOffset = offset + MEMBER_BYTES + nameBytes + u16(offset + 28);
        if (storedBytes < 0 || storedBytes > directory - dataOffset) {
            throw malformed(at + 20, member + " has " + Long.toUnsignedString(storedBytes) + " bytes",
                    "at most " + Math.max(0, directory - dataOffset) + ", up to the directory");
        }
        ZipMember found = new ZipMember(name, method, flags, i32(at + 16), storedBytes, byteSize, dataOffset);
        boolean isPossible = found.refusal() != null || (method == ZipMember.STORED ? byteSize == storedBytes
                : byteSize >= 0 && byteSize / Gzip.MAX_EXPANSION <= storedBytes);
        if (!isPossible) {
            throw malformed(at + 24, member + " has " + Long.toUnsignedString(byteSize) + " bytes of content",
                    method == ZipMember.STORED ? storedBytes + ", as it is stored" : "at most " + Gzip.MAX_EXPANSION
                    + " times its " + storedBytes + " deflated ones");
        }
        return new Placed(found, offset);
    }

    /** Replaces the sizes and the offset that do not fit into 32 bits by those of the extra field. */
    private void readExtra64(long entry, long[] numbers) {
        long at = entry + ENTRY_BYTES + u16(entry + 28);
        long end = at + u16(entry + 30);
        while (end - at >= 4) {
            int fieldBytes = u16(at + 2);
            long field = at + 4;
            if (fieldBytes > end - field) {
                break;
            }
            if (u16(at) == EXTRA_64) {
                long fieldEnd = field + fieldBytes;
                for (int i = 0; i < numbers.length; i++) {
                    if (numbers[i] == MAX_U32) {
                        if (fieldEnd - field < Long.BYTES) {
                            throw malformed(at, "a zip64 field of " + fieldBytes + " bytes", "another number");
                        }
                        numbers[i] = i64(field);
                        field += Long.BYTES;
                    }
                }
                return;
            }
            at = field + fieldBytes;
        }
    }

    private String name(long at, int length, int flags) {
        byte[] name = bytes.asSlice(at, length).toArray(JAVA_BYTE);
        if ((flags & UTF8_NAME) != 0) {
            try {
                return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(name)).toString();
            } catch (CharacterCodingException _) {
                throw malformed(at, "a name that is not UTF-8", "UTF-8, as its entry says");
            }
        }
        StringBuilder text = new StringBuilder(length);
        for (byte b : name) {
            text.append(b >= 0 ? (char) b : CP437.charAt(b & 0x7F));
        }
        return text.toString();
    }

    private void checkDisjoint(List<Placed> members) {
        Placed before = null;
        for (Placed each : members.stream().sorted(Comparator.comparingLong(Placed::start)).toList()) {
            if (before != null && before.end() > each.start) {
                throw malformed(each.start, each.member.inWords() + " within " + before.member.inWords(),
                        "members that do not overlap");
            }
            before = each;
        }
    }

    private int u16(long at) {
        return bytes.get(LittleEndian.I16, at) & 0xFFFF;
    }

    private int i32(long at) {
        return bytes.get(LittleEndian.I32, at);
    }

    private long u32(long at) {
        return i32(at) & MAX_U32;
    }

    private long i64(long at) {
        return bytes.get(LittleEndian.I64, at);
    }

    private MalformedStoreException malformed(long offset, String found, String expected) {
        return new MalformedStoreException(file.location(), offset, found, expected);
    }
}
