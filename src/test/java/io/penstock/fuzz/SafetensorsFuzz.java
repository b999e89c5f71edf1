// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** One safetensors file. */
final class SafetensorsFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("safetensors", "safetensors", "x.safetensors");

    private SafetensorsFuzz() {
    }
}
