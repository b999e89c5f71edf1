package io.penstock.store.lmdb;

import io.penstock.memory.MappedFile;
import io.penstock.store.MalformedStoreException;
import io.penstock.store.mapped.LittleEndian;
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
 *
 * @param pageBytes the page size
 * @param mapSize what the writer mapped
 * @param free the tree of free pages
 * @param main the main database
 * @param lastPage the number of the last page in use
 * @param transaction the number of the transaction that wrote it
 */
record Meta(int pageBytes, long mapSize, Tree free, Tree main, long lastPage, long transaction) {

    static final int MAGIC = 0xBEEFC0DE;
    private static final int VERSION = 1;
    private static final int BYTES = 136;
    private static final int FREE = 24;
    private static final int MIN_PAGE_BYTES = 256;
    private static final int MAX_PAGE_BYTES = 1 << 16;

    /** The newer one of the two meta pages; one that was not written whole is passed over. */
    static Meta of(MappedFile file) throws MalformedStoreException {
        Meta first = at(file, 0);
        Meta second = null;
        if (first != null) {
            second = at(file, first.pageBytes);
        }
        for (int size = MIN_PAGE_BYTES; first == null && second == null && size <= MAX_PAGE_BYTES; size <<= 1) {
            second = at(file, size);
            second = second != null && second.pageBytes == size ? second : null;
        }
        if (first == null && second == null) {
            throw new MalformedStoreException(file.path(), 0, "no meta page of LMDB",
                    "0xBEEFC0DE in one of the first two pages (64-bit, little-endian)");
        }
        if (first == null || second == null || first.pageBytes != second.pageBytes) {
            return first == null ? second : first;
        }
        return Long.compareUnsigned(second.transaction, first.transaction) > 0 ? second : first;
    }

    /** The meta page at an offset; null if there is none, or not a whole one. */
    private static Meta at(MappedFile file, long page) throws MalformedStoreException {
        MemorySegment bytes = file.segment();
        long meta = page + Pages.HEADER_BYTES;
        if (bytes.byteSize() - meta < BYTES || bytes.get(LittleEndian.I32, meta) != MAGIC) {
            return null;
        }
        int version = bytes.get(LittleEndian.I32, meta + 4);
        if (version != VERSION) {
            throw new MalformedStoreException(file.path(), meta + 4, "version " + Integer.toUnsignedString(version)
                    + " of LMDB's data format", String.valueOf(VERSION));
        }
        int pageBytes = bytes.get(LittleEndian.I32, meta + FREE);
        if ((bytes.get(LittleEndian.I16, page + Pages.FLAGS) & Pages.META) == 0 || Integer.bitCount(pageBytes) != 1
                || pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES) {
            return null;
        }
        return new Meta(pageBytes, bytes.get(LittleEndian.I64, meta + 16), Tree.at(bytes, meta + FREE),
                Tree.at(bytes, meta + FREE + Tree.BYTES), bytes.get(LittleEndian.I64, meta + 120),
                bytes.get(LittleEndian.I64, meta + 128));
    }
}
