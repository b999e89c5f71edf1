// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.PenstockException;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Parquet: footers, page headers, levels, and values in all encodings. */
final class ParquetFuzz {

    private static final String[] SEEDS = {"delta-v1", "delta-v2", "shared-v1", "shared-v2", "duckdb-v2",
        "fixed-lists", "required", "no-row-group", "long-values", "pages-indexed", "../nested/int96",
        "../nested/small/nested", "../nested/small/nested_v2", "../nested/small/lists", "../nested/small/lists_v2"};

    static final FuzzTarget TARGET = new Filtered(seeded(StoreFuzz.of("parquet", "parquet", "x.parquet")));

    /** Also asks for rows by conditions, which reads statistics and the page index. */
    private record Filtered(StoreFuzz of) implements FuzzTarget {

        @Override
        public List<byte[]> seeds() throws IOException {
            return of.seeds();
        }

        @Override
        public void run(byte[] input, Path folder) throws IOException {
            of.run(input, folder);
            try (RecordStore rows = RecordStore.open(folder.resolve(of.opened()), of.options())) {
                for (Column column : rows.columns().subList(0, Math.min(3, rows.columns().size()))) {
                    String name = "`" + column.name() + "`";
                    if (column.name().isEmpty() || column.name().contains("`")) {
                        continue;
                    }
                    rows.rowsWhere(name + " is null");
                    if (column.kind() == Column.Kind.NUMBERS && column.spec().rank() == 0
                            && column.spec().dtype() != DType.BOOL) {
                        rows.rowsWhere(name + " > 3 and " + name + " != 5");
                    } else if (column.kind() == Column.Kind.TEXT && column.encoding().isEmpty()) {
                        rows.rowsWhere(name + " < 'k'");
                    }
                }
            } catch (IOException | UncheckedIOException | PenstockException _) {
                // What is malformed is named.
            }
        }
    }

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
