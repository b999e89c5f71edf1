package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** LMDB's environments. */
final class LmdbFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("lmdb", StoreFormat.LMDB, "data.mdb").opening("").upTo(1 << 18);

    private LmdbFuzz() {
    }
}
