// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** Tars in all their formats; compressed ones too, for a shard's first bytes say what it is. */
final class WebDatasetFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("webdataset", "webdataset", "x.tar");

    private WebDatasetFuzz() {
    }
}
