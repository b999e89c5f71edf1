// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** Megatron-LM's indexed datasets: the index, then the tokens. */
final class MegatronFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("megatron", "megatron", "x.idx", "x.bin");

    private MegatronFuzz() {
    }
}
