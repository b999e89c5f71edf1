// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** datatrove's tokenized files: the index and the metadata, which are small, then the tokens and the loss mask. */
final class DatatroveFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("datatrove", "datatrove",
            "x.ds.index", "x.ds.metadata", "x.ds", "x.ds.loss").opening("x.ds");

    private DatatroveFuzz() {
    }
}
