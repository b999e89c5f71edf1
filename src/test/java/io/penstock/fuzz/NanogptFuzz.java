// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** Raw tokens. */
final class NanogptFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("nanogpt", "nanogpt", "x.bin");

    private NanogptFuzz() {
    }
}
