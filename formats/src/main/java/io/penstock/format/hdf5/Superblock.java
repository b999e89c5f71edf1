// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * A file's first structure: at byte 0, or after a user block of 512, 1024, 2048, … bytes.
 *
 * @param version 0 to 3
 * @param offset its offset, where address 0 is. Like the library, this ignores the base address in the superblock, so
 *     that a user block can be put before a file
 * @param root the root group's object header
 * @param extension the object header of messages about the file, or {@link AddressSpace#UNDEFINED}
 */
record Superblock(int version, long offset, AddressSpace space, long root, long extension) {

    private static final byte[] SIGNATURE = "\u0089HDF\r\n\u001a\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final long FIRST_USER_BLOCK_BYTES = 512;
    private static final String NAME = "superblock";
    private static final int OPEN_FOR_WRITING = 1;

    /** Tells whether bytes have a superblock's signature at an offset. */
    static boolean isAt(byte[] bytes, int offset) {
        return bytes.length >= offset + SIGNATURE.length && MemorySegment.ofArray(bytes)
                .asSlice(offset, SIGNATURE.length).mismatch(MemorySegment.ofArray(SIGNATURE)) < 0;
    }

    static Superblock read(MappedFile file) {
        long offset = find(file);
        AddressSpace bytes = new AddressSpace(file, offset, file.byteSize(), Long.BYTES, Long.BYTES);
        Cursor sizes = bytes.open(0, file.byteSize() - offset, NAME).skip(SIGNATURE.length);
        int version = sizes.versionOf(0, 3);
        sizes.skip(version < 2 ? 4 : 0);
        AddressSpace space = new AddressSpace(file, offset, file.byteSize(), size(sizes), size(sizes));
        Cursor at = space.open(0, file.byteSize() - offset, NAME).skip(SIGNATURE.length);
        return version < 2 ? readOld(version, offset, space, at) : readNew(version, offset, space, at);
    }

    private static Superblock readOld(int version, long offset, AddressSpace all, Cursor at) {
        at.skip(version == 0 ? 16 : 20);
        long base = at.address();
        at.address();
        AddressSpace space = stated(all, offset, base, at.address());
        at.address();
        at.skip(all.addressBytes());
        return new Superblock(version, offset, space, at.address(), AddressSpace.UNDEFINED);
    }

    private static Superblock readNew(int version, long offset, AddressSpace all, Cursor at) {
        int flags = at.skip(3).u8();
        long base = at.address();
        long extension = at.address();
        long end = at.address();
        long root = at.address();
        at.checksum();
        if (version == 3 && (flags & OPEN_FOR_WRITING) != 0) {
            throw all.malformed(offset + SIGNATURE.length + 3, "the flag of a writer that has it open or has crashed",
                    "a closed file (h5clear -s clears the flag)");
        }
        return new Superblock(version, offset, stated(all, offset, base, end), root, extension);
    }

    /** Returns the addressable bytes: up to the end that the file declares. */
    private static AddressSpace stated(AddressSpace all, long offset, long base, long statedEnd) {
        long fileBytes = all.file().byteSize();
        if (base < 0 || statedEnd < base || statedEnd - base > fileBytes - offset) {
            throw all.malformed(fileBytes, "the end of the file", "its end " + (statedEnd < base || base < 0
                    ? "elsewhere" : "at byte " + (statedEnd - base + offset))
                    + ", as the superblock declares (is the file truncated?)");
        }
        return new AddressSpace(all.file(), offset, statedEnd - base + offset, all.addressBytes(), all.lengthBytes());
    }

    private static int size(Cursor at) {
        int bytes = at.u8();
        if (bytes != 2 && bytes != 4 && bytes != 8) {
            throw at.malformed("addresses or lengths of " + bytes + " bytes", "2, 4 or 8");
        }
        return bytes;
    }

    private static long find(MappedFile file) {
        if (file.byteSize() == 0) {
            throw new MalformedStoreException(file.location(), 0, "an empty file", "an HDF5 file");
        }
        for (long offset = 0; offset <= file.byteSize() - SIGNATURE.length;
                offset = offset == 0 ? FIRST_USER_BLOCK_BYTES : 2 * offset) {
            if (isAt(file.range(offset, SIGNATURE.length).toArray(ValueLayout.JAVA_BYTE), 0)) {
                return offset;
            }
        }
        throw new MalformedStoreException(file.location(), 0, "no HDF5 signature",
                "\\x89HDF\\r\\n\\x1a\\n at byte 0, 512, 1024, 2048, …");
    }
}
