package io.penstock.fuzz;

/** Raw tokens. */
final class NanogptFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("nanogpt", "nanogpt", "x.bin");

    private NanogptFuzz() {
    }
}
