package io.penstock.format.hdf5;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of a file as its metadata addresses them: from the superblock to the end that it states.
 *
 * <p>What metadata is read is counted. A file whose structures refer to each other in circles, or share parts until
 * reading them all takes exponential time, comes to the limit, which is in proportion to its size.
 */
final class AddressSpace {

    /** An address that leads nowhere. */
    static final long UNDEFINED = -1;

    private static final long WORK_BYTES = 4 << 20;
    private static final long WORK_PER_BYTE = 64;

    private final MappedFile file;
    private final long base;
    private final long end;
    private final int addressBytes;
    private final int lengthBytes;
    private final AtomicLong work = new AtomicLong();

    /**
     * @param base where address 0 is in the file
     * @param end the position behind the last byte that may be addressed
     */
    AddressSpace(MappedFile file, long base, long end, int addressBytes, int lengthBytes) {
        this.file = file;
        this.base = base;
        this.end = end;
        this.addressBytes = addressBytes;
        this.lengthBytes = lengthBytes;
    }

    /** A structure's bytes, to be read from the first one on. */
    Cursor open(long address, long bytes, String what) throws MalformedStoreException {
        long position = position(address, bytes, what);
        spend(bytes, what);
        return new Cursor(this, position, position + bytes, what);
    }

    /** Where in the file some bytes are, all of which are there. */
    long position(long address, long bytes, String what) throws MalformedStoreException {
        if (address < 0 || bytes < 0 || address > end - base || bytes > end - base - address) {
            throw new MalformedStoreException(file.location(), what + " of " + Long.toUnsignedString(bytes)
                    + " bytes at address " + (address == UNDEFINED ? "undefined" : Long.toUnsignedString(address)),
                    "one within the " + (end - base) + " bytes that the file has");
        }
        return base + address;
    }

    /** Counts metadata that is read. */
    void spend(long bytes, String what) throws MalformedStoreException {
        if (work.addAndGet(bytes + 1) > WORK_BYTES + WORK_PER_BYTE * file.byteSize()) {
            throw new MalformedStoreException(file.location(), what + " is read again and again",
                    "structures that do not lead back to themselves");
        }
    }

    MappedFile file() {
        return file;
    }

    /** The file's bytes, of which what is read must be required. */
    MemorySegment mapping() {
        return file.mapping();
    }

    /** The position behind the last byte that may be addressed. */
    long end() {
        return end;
    }

    int addressBytes() {
        return addressBytes;
    }

    int lengthBytes() {
        return lengthBytes;
    }

    MalformedStoreException malformed(long position, String found, String expected) {
        return new MalformedStoreException(file.location(), position, found, expected);
    }
}
