// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.ByteSwap;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Copies an array into row-major, little-endian order.
 *
 * <p>An array in Fortran order is its own transpose, all axes reversed. Its planes of first and last axis are
 * transposed tile by tile, so that each cache line is fully used while it is in the cache.
 */
final class RowMajor {

    private static final long TILE = 32;

    private final MemorySegment source;
    private final MemorySegment target;
    private final int elementBytes;

    private RowMajor(MemorySegment source, MemorySegment target, int elementBytes) {
        this.source = source;
        this.target = target;
        this.elementBytes = elementBytes;
    }

    static void copy(MemorySegment source, MemorySegment target, NpyArray array) {
        if (array.dataBytes() == 0) {
            return;
        }
        int elementBytes = array.type().byteSize();
        if (array.isFortranOrder() && array.shape().length > 1) {
            new RowMajor(source, target, elementBytes).transpose(array.shape());
        } else {
            MemorySegment.copy(source, 0, target, 0, array.dataBytes());
        }
        if (array.type().isBigEndian()) {
            ByteSwap.inPlace(target.asSlice(0, array.dataBytes()), elementBytes);
        }
    }

    private void transpose(long[] shape) {
        int last = shape.length - 1;
        long[] sourceStride = new long[shape.length];
        long[] targetStride = new long[shape.length];
        long stride = 1;
        for (int d = 0; d <= last; d++) {
            sourceStride[d] = stride;
            stride *= shape[d];
        }
        stride = 1;
        for (int d = last; d >= 0; d--) {
            targetStride[d] = stride;
            stride *= shape[d];
        }
        long[] index = new long[shape.length];
        long from = 0;
        long to = 0;
        int d;
        do {
            plane(shape[0], shape[last], from, sourceStride[last], to, targetStride[0]);
            for (d = last - 1; d > 0; d--) {
                from += sourceStride[d];
                to += targetStride[d];
                if (++index[d] < shape[d]) {
                    break;
                }
                from -= index[d] * sourceStride[d];
                to -= index[d] * targetStride[d];
                index[d] = 0;
            }
        } while (d > 0);
    }

    /** Transposes the plane of the first and the last axis at one position of the axes between. */
    private void plane(long rows, long columns, long from, long sourceColumnStride, long to, long targetRowStride) {
        for (long rowTile = 0; rowTile < rows; rowTile += TILE) {
            long rowEnd = Math.min(rowTile + TILE, rows);
            for (long columnTile = 0; columnTile < columns; columnTile += TILE) {
                long columnEnd = Math.min(columnTile + TILE, columns);
                for (long row = rowTile; row < rowEnd; row++) {
                    for (long column = columnTile; column < columnEnd; column++) {
                        element(from + row + column * sourceColumnStride, to + row * targetRowStride + column);
                    }
                }
            }
        }
    }

    private void element(long from, long to) {
        switch (elementBytes) {
            case 1 -> target.set(JAVA_BYTE, to, source.get(JAVA_BYTE, from));
            case 2 -> target.set(LittleEndian.I16, 2 * to, source.get(LittleEndian.I16, 2 * from));
            case 4 -> target.set(LittleEndian.I32, 4 * to, source.get(LittleEndian.I32, 4 * from));
            case 8 -> target.set(LittleEndian.I64, 8 * to, source.get(LittleEndian.I64, 8 * from));
            default -> throw new IllegalStateException("elements of " + elementBytes + " bytes");
        }
    }
}
