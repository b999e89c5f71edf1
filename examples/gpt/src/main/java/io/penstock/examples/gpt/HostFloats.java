// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.Objects;

/** Floats in an array, from {@code offset} on. */
record HostFloats(float[] array, int offset, int size) implements Floats {

    static HostFloats of(Floats floats) {
        return (HostFloats) floats;
    }

    /** The floats as the rows of a matrix, without a copy. */
    static Matrix matrix(Floats floats, int rows, int columns) {
        HostFloats host = of(floats);
        Objects.checkFromIndexSize(0, rows * columns, host.size);
        return new Matrix(host.array, host.offset, rows, columns, columns, 1);
    }

    @Override
    public HostFloats slice(int from, int size) {
        Objects.checkFromIndexSize(from, size, this.size);
        return new HostFloats(array, offset + from, size);
    }

    @Override
    public void copyTo(float[] target) {
        System.arraycopy(array, offset, target, 0, size);
    }

    @Override
    public void copyFrom(float[] source) {
        System.arraycopy(source, 0, array, offset, size);
    }
}
