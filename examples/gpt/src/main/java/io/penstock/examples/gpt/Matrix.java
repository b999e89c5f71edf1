// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

/** A view of an array: element (i, j) is {@code array[offset + i * rowStride + j * columnStride]}. */
record Matrix(float[] array, int offset, int rows, int columns, int rowStride, int columnStride) {

    Matrix transposed() {
        return new Matrix(array, offset, columns, rows, columnStride, rowStride);
    }

    Matrix block(int row, int column, int rows, int columns) {
        return new Matrix(array, at(row, column), rows, columns, rowStride, columnStride);
    }

    int at(int row, int column) {
        return offset + row * rowStride + column * columnStride;
    }
}
