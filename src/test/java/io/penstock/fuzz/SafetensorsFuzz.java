package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** One safetensors file. */
final class SafetensorsFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("safetensors", StoreFormat.SAFETENSORS, "x.safetensors");

    private SafetensorsFuzz() {
    }
}
