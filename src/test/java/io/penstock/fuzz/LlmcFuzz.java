package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** llm.c's data files. */
final class LlmcFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("llmc", StoreFormat.LLMC, "x.bin");

    private LlmcFuzz() {
    }
}
