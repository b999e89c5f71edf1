package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** Raw tokens. */
final class NanogptFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("nanogpt", StoreFormat.NANOGPT, "x.bin");

    private NanogptFuzz() {
    }
}
