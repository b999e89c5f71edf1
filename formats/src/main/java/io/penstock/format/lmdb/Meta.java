// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * The state of an environment as of its last transaction. The first two pages are meta pages, written in turns; each
 * has this behind the {@link Pages page header} of 16 bytes ({@code MDB_meta}):
 *
 * <pre>{@code
 *   0 u32 0xBEEFC0DE
 *   4 u32 version of the data format, 1
 *   8 u64 address of a fixed mapping
 *  16 u64 size of the writer's map
 *  24     tree of free pages, whose first field is the page size
 *  72     tree of the main database
 * 120 u64 last page in use
 * 128 u64 transaction
 * }</pre>
 */
record Meta(int pageBytes, long mapSize, Tree free, Tree main, long lastPage, long transaction) {

    static final int MAGIC = 0xBEEFC0DE;
    private static final int VERSION = 1;
    private static final int BYTES = 136;
    private static final int FREE = 24;
    private static final int MIN_PAGE_BYTES = 256;
    private static final int MAX_PAGE_BYTES = 1 << 16;

    /** Returns the newer meta page. Both must be valid: the library always writes both. */
    static Meta of(MappedFile file) {
        Meta first = at(file, 0);
        Meta second = at(file, first.pageBytes);
        if (first.pageBytes != second.pageBytes) {
            throw new MalformedStoreException(file.location(), first.pageBytes + Pages.HEADER_BYTES + FREE,
                    "a second meta page that says pages have " + second.pageBytes + " bytes",
                    first.pageBytes + ", as the first one says");
        }
        if (file.byteSize() < 2L * first.pageBytes) {
            throw ends(file, 2L * first.pageBytes);
        }
        return Long.compareUnsigned(second.transaction, first.transaction) > 0 ? second : first;
    }

    private static MalformedStoreException ends(MappedFile file, long expectedBytes) {
        return new MalformedStoreException(file.location(), file.byteSize(), "the file ends inside its two meta pages",
                expectedBytes + " bytes at least (is it cut?)");
    }

    /** Reads the meta page at an offset. */
    private static Meta at(MappedFile file, long page) {
        MemorySegment bytes = file.segment();
        long meta = page + Pages.HEADER_BYTES;
        if (bytes.byteSize() - meta < BYTES) {
            throw ends(file, meta + BYTES);
        }
        if (bytes.get(LittleEndian.I32, meta) != MAGIC) {
            throw new MalformedStoreException(file.location(), meta, "no meta page of LMDB",
                    "0xBEEFC0DE in each of the first two pages (64-bit, little-endian)");
        }
        int version = bytes.get(LittleEndian.I32, meta + 4);
        if (version != VERSION) {
            throw new MalformedStoreException(file.location(), meta + 4, "version " + Integer.toUnsignedString(version)
                    + " of LMDB's data format", String.valueOf(VERSION));
        }
        int pageBytes = bytes.get(LittleEndian.I32, meta + FREE);
        int flags = bytes.get(LittleEndian.I16, page + Pages.FLAGS) & 0xFFFF;
        if ((flags & Pages.META) == 0 || Integer.bitCount(pageBytes) != 1 || pageBytes < MIN_PAGE_BYTES
                || pageBytes > MAX_PAGE_BYTES) {
            throw new MalformedStoreException(file.location(), meta, "a meta page with flags 0x"
                    + Integer.toHexString(flags) + " and pages of " + Integer.toUnsignedString(pageBytes) + " bytes",
                    "the flag 0x8, and a power of two from " + MIN_PAGE_BYTES + " to " + MAX_PAGE_BYTES);
        }
        return new Meta(pageBytes, bytes.get(LittleEndian.I64, meta + 16), Tree.at(bytes, meta + FREE),
                Tree.at(bytes, meta + FREE + Tree.BYTES), bytes.get(LittleEndian.I64, meta + 120),
                bytes.get(LittleEndian.I64, meta + 128));
    }
}
