// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.store.Fixtures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder that Hugging Face's {@code save_to_disk} wrote: what lists its files, and one of them. */
final class ArrowFolderFuzz {

    static final FuzzTarget TARGET = seeded(StoreFuzz.of("", "arrow", "d/state.json",
            "d/data-00000-of-00002.arrow", "d/data-00001-of-00002.arrow").opening("d"));

    private ArrowFolderFuzz() {
    }

    private static FuzzTarget seeded(StoreFuzz target) {
        try {
            Path dataset = Fixtures.path("arrow/hf_dataset");
            return target.seededBy(Files.readAllBytes(dataset.resolve("state.json")),
                    Files.readAllBytes(dataset.resolve("data-00000-of-00002.arrow")),
                    Files.readAllBytes(dataset.resolve("data-00001-of-00002.arrow")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
