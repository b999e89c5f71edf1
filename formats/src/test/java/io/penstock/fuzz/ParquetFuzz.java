// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.store.Fixtures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;

/** Parquet: footers, page headers, levels, and values in all encodings. */
final class ParquetFuzz {

    private static final String[] SEEDS = {"delta-v1", "delta-v2", "shared-v1", "shared-v2", "duckdb-v2",
        "fixed-lists", "required", "no-row-group", "long-values", "pages-indexed", "../nested/int96",
        "../nested/small/nested", "../nested/small/nested_v2", "../nested/small/lists", "../nested/small/lists_v2"};

    static final FuzzTarget TARGET = seeded(StoreFuzz.of("parquet", "parquet", "x.parquet"));

    private ParquetFuzz() {
    }

    private static StoreFuzz seeded(StoreFuzz target) {
        StoreFuzz seeded = target;
        for (String name : SEEDS) {
            try {
                seeded = seeded.seededBy(Files.readAllBytes(
                        Fixtures.resource("parquet").resolve(name + ".parquet")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return seeded;
    }
}
