// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of a file as its metadata addresses them: from the superblock to the end that it declares.
 *
 * <p>Metadata reads are counted. A file whose structures refer to each other in circles, or share parts so that reading
 * takes exponential time, reaches a limit proportional to its size.
 *
 * @param base the offset of address 0 in the file
 * @param work the metadata bytes read so far
 */
record AddressSpace(MappedFile file, long base, long end, int addressBytes, int lengthBytes, AtomicLong work) {

    static final long UNDEFINED = -1;

    private static final long WORK_BYTES = 4 << 20;
    private static final long WORK_PER_BYTE = 64;

    AddressSpace(MappedFile file, long base, long end, int addressBytes, int lengthBytes) {
        this(file, base, end, addressBytes, lengthBytes, new AtomicLong());
    }

    Cursor open(long address, long bytes, String what) {
        long position = position(address, bytes, what);
        spend(bytes, what);
        return new Cursor(this, position, position + bytes, what);
    }

    /** Returns the offset of bytes in the file; checks that the file has them all. */
    long position(long address, long bytes, String what) {
        if (address < 0 || bytes < 0 || address > end - base || bytes > end - base - address) {
            throw new MalformedStoreException(file.location(), what + " of " + Long.toUnsignedString(bytes)
                    + " bytes at address " + (address == UNDEFINED ? "undefined" : Long.toUnsignedString(address)),
                    "one within the " + (end - base) + " bytes that the file has");
        }
        return base + address;
    }

    void spend(long bytes, String what) {
        if (work.addAndGet(bytes + 1) > WORK_BYTES + WORK_PER_BYTE * file.byteSize()) {
            throw new MalformedStoreException(file.location(), what + " is read more often than its size allows",
                    "structures without cycles");
        }
    }

    MalformedStoreException malformed(long position, String found, String expected) {
        return new MalformedStoreException(file.location(), position, found, expected);
    }
}
