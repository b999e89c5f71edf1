package io.penstock.fuzz;

import io.penstock.store.StoreFormat;

/** A folder that Hugging Face's {@code save_to_disk} wrote: what lists its files, and one of them. */
final class ArrowFolderFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("arrow", StoreFormat.ARROW, "d/state.json",
            "d/data-00000-of-00002.arrow", "d/data-00001-of-00002.arrow").opening("d");

    private ArrowFolderFuzz() {
    }
}
