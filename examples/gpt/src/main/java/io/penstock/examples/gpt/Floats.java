// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

/** Floats where the kernels compute: on the heap ({@link HostFloats}), or in the memory of a GPU. */
interface Floats {

    /** The number of floats. */
    int size();

    /** A view of some of them. */
    Floats slice(int from, int size);

    /** Copies all of them to the heap. */
    void copyTo(float[] target);

    /** Replaces all of them. */
    void copyFrom(float[] source);
}
