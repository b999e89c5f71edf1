// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** {@code .npy}: headers of all versions, and the bytes of an array. */
final class NpyFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("npy", "npy", "x.npy");

    private NpyFuzz() {
    }
}
