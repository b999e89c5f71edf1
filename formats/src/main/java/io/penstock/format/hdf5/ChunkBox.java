// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** Copies the intersection of a chunk and a band of rows. */
final class ChunkBox {

    private final ChunkGrid grid;
    /** The dataset's shape, but with the band's rows. */
    private final long[] bandShape;
    private final long firstRow;

    ChunkBox(ChunkGrid grid, long firstRow, long rows) {
        this.grid = grid;
        this.firstRow = firstRow;
        this.bandShape = grid.shape().clone();
        this.bandShape[0] = rows;
    }

    void copy(byte[] chunk, long[] coordinates, MemorySegment band) {
        int rank = grid.rank();
        long[] count = new long[rank];
        long[] chunkStride = new long[rank];
        long[] bandStride = new long[rank];
        long from = 0;
        long to = 0;
        long chunkBytes = grid.elementBytes();
        long bandBytes = grid.elementBytes();
        for (int d = rank - 1; d >= 0; d--) {
            chunkStride[d] = chunkBytes;
            bandStride[d] = bandBytes;
            long start = coordinates[d] * grid.chunk()[d] - (d == 0 ? firstRow : 0);
            long first = Math.max(0, start);
            count[d] = Math.min(start + grid.chunk()[d], bandShape[d]) - first;
            from += (first - start) * chunkBytes;
            to += first * bandBytes;
            chunkBytes *= grid.chunk()[d];
            bandBytes *= bandShape[d];
        }
        // Dimensions that are complete in both are one run with the dimension before.
        int inner = rank - 1;
        while (inner > 0 && count[inner] == grid.chunk()[inner] && count[inner] == bandShape[inner]) {
            inner--;
        }
        copy(chunk, from, chunkStride, band, to, bandStride, count, inner);
    }

    private static void copy(byte[] chunk, long from, long[] chunkStride, MemorySegment band, long to,
            long[] bandStride, long[] count, int inner) {
        int runBytes = (int) (count[inner] * chunkStride[inner]);
        long[] index = new long[inner];
        long source = from;
        long target = to;
        int d;
        do {
            MemorySegment.copy(chunk, (int) source, band, JAVA_BYTE, target, runBytes);
            for (d = inner - 1; d >= 0; d--) {
                source += chunkStride[d];
                target += bandStride[d];
                if (++index[d] < count[d]) {
                    break;
                }
                source -= count[d] * chunkStride[d];
                target -= count[d] * bandStride[d];
                index[d] = 0;
            }
        } while (d >= 0);
    }
}
