package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** {@code .npy}: headers of all versions, and the bytes of an array. */
final class NpyFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("npy", StoreFormat.NPY, "x.npy");

    private NpyFuzz() {
    }
}
