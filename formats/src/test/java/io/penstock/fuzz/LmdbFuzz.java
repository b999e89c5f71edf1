// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** LMDB's environments. */
final class LmdbFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("lmdb", "lmdb", "data.mdb").opening("").upTo(1 << 18);

    private LmdbFuzz() {
    }
}
