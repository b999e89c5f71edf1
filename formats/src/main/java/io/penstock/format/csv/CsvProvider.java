// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.format.csv.TextTable.Kind;
import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** CSV and TSV: a file, plain or packed, or a folder of them. A file {@code NAME.table.json} says how it is read. */
public final class CsvProvider implements StoreProvider {

    /** For the service loader. */
    public CsvProvider() {
    }

    @Override
    public String name() {
        return "csv";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() ? Kind.CSV.endingOf(candidate.name()) != null
                : candidate.isFolder() && Kind.CSV.endingIn(candidate.path()) != null;
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return TextTable.open(path, Kind.CSV, options.member(), options.decodeLimit());
    }
}
