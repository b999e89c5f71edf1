// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.format.csv.TextTable.Kind;
import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** JSON lines: a file, plain or packed, or a folder of them; each line that is not blank is a record. */
public final class JsonLinesProvider implements StoreProvider {

    /** For the service loader. */
    public JsonLinesProvider() {
    }

    @Override
    public String name() {
        return "jsonl";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() ? Kind.JSON_LINES.endingOf(candidate.name()) != null
                : candidate.isFolder() && Kind.JSON_LINES.endingIn(candidate.path()) != null;
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return TextTable.open(path, Kind.JSON_LINES, options.member(), options.decodeLimit());
    }
}
