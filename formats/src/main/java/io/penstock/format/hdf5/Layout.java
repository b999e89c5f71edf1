// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

/** The place of a dataset's elements. */
sealed interface Layout {

    default String name() {
        return switch (this) {
            case Compact _ -> "compact";
            case Contiguous _ -> "contiguous";
            case Chunked _ -> "chunked";
            case Virtual _ -> "virtual";
        };
    }

    /** In the object header. */
    record Compact(long position, long byteSize) implements Layout {
    }

    /** In one piece. The address may be {@link AddressSpace#UNDEFINED}; the size is -1 if unknown. */
    record Contiguous(long address, long byteSize) implements Layout {
    }

    /**
     * In chunks, which may be filtered.
     *
     * @param address the index, or the only chunk
     * @param chunk the shape of a chunk, then the size of an element
     * @param wholeEdges whether chunks that the dataset does not fill are unfiltered
     * @param oneBytes the size in the file of an only, filtered chunk
     * @param oneMask the skipped filters of an only, filtered chunk
     */
    record Chunked(Index index, long address, long[] chunk, boolean wholeEdges, long oneBytes, int oneMask)
            implements Layout {
    }

    /** In other datasets. */
    record Virtual() implements Layout {
    }

    /** The kinds of chunk indexes, in the order of their numbers in the file. */
    enum Index { BTREE_1, ONE_CHUNK, IMPLICIT, FIXED_ARRAY, EXTENSIBLE_ARRAY, BTREE_2 }

    static Layout read(Cursor at) {
        int version = at.versionOf(1, 5);
        return version < 3 ? readOld(at) : readNew(at, version);
    }

    private static Layout readOld(Cursor at) {
        int rank = at.u8();
        int layoutClass = at.u8();
        at.skip(5);
        long address = layoutClass == 0 ? AddressSpace.UNDEFINED : at.address();
        return switch (layoutClass) {
            case 0 -> compact(at, at.skip(4L * rank).u32());
            case 1 -> new Contiguous(address, -1);
            case 2 -> new Chunked(Index.BTREE_1, address, chunk(at, rank, 4), false, 0, 0);
            default -> throw at.malformed("layout of class " + layoutClass, "0 to 2");
        };
    }

    private static Layout readNew(Cursor at, int version) {
        int layoutClass = at.u8();
        int rank = layoutClass == 2 && version == 3 ? at.u8() : 0;
        return switch (layoutClass) {
            case 0 -> compact(at, at.u16());
            case 1 -> new Contiguous(at.address(), at.length());
            case 2 -> version > 3 ? readChunked(at)
                    : new Chunked(Index.BTREE_1, at.address(), chunk(at, rank, 4), false, 0, 0);
            case 3 -> new Virtual();
            default -> throw at.malformed("layout of class " + layoutClass, "0 to 3");
        };
    }

    private static Layout compact(Cursor at, long bytes) {
        return new Compact(at.position(), at.part(bytes, "compact data").remaining());
    }

    private static Layout readChunked(Cursor at) {
        int flags = at.u8();
        int rank = at.u8();
        int dimBytes = at.u8();
        if (dimBytes < 1 || dimBytes > Long.BYTES || flags > 3) {
            throw at.malformed("flags " + flags + ", dimensions of " + dimBytes + " bytes", "0 to 3, 1 to 8");
        }
        long[] chunk = chunk(at, rank, dimBytes);
        int type = at.u8();
        if (type < 1 || type >= Index.values().length) {
            throw at.malformed("chunk index of type " + type, "1 to 5");
        }
        Index index = Index.values()[type];
        long oneBytes = 0;
        int oneMask = 0;
        switch (index) {
            case ONE_CHUNK -> {
                if ((flags & 2) != 0) {
                    oneBytes = at.length();
                    oneMask = at.i32();
                }
            }
            case FIXED_ARRAY -> at.skip(1);
            case EXTENSIBLE_ARRAY -> at.skip(5);
            case BTREE_2 -> at.skip(6);
            default -> { }
        }
        return new Chunked(index, at.address(), chunk, (flags & 1) != 0, oneBytes, oneMask);
    }

    private static long[] chunk(Cursor at, int rank, int dimBytes) {
        if (rank < 2 || rank > Dataspace.MAX_RANK + 1) {
            throw at.malformed("chunks of " + (rank - 1) + " dimensions", "1 to " + Dataspace.MAX_RANK);
        }
        long[] chunk = new long[rank];
        long bytes = 1;
        for (int d = 0; d < rank; d++) {
            chunk[d] = at.notNegative(at.number(dimBytes));
            if (chunk[d] == 0 || chunk[d] > Long.MAX_VALUE / bytes) {
                throw at.malformed("chunks of dimension " + chunk[d], "at least 1, and less than 2^63 bytes in all");
            }
            bytes *= chunk[d];
        }
        return chunk;
    }
}
