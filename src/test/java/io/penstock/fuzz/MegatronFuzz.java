package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** Megatron-LM's indexed datasets: the index, then the tokens. */
final class MegatronFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("megatron", StoreFormat.MEGATRON, "x.idx", "x.bin");

    private MegatronFuzz() {
    }
}
