// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** llm.c's data files. */
final class LlmcFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("llmc", "llmc", "x.bin");

    private LlmcFuzz() {
    }
}
