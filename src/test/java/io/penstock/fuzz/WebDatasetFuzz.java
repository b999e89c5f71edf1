package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** Tars in all their formats; compressed ones too, for a shard's first bytes say what it is. */
final class WebDatasetFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("webdataset", StoreFormat.WEBDATASET, "x.tar");

    private WebDatasetFuzz() {
    }
}
