// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** Delta tables: a folder with {@code _delta_log}. The member is the version, by default the newest. */
public final class DeltaProvider implements StoreProvider {

    /** For {@link java.util.ServiceLoader}. */
    public DeltaProvider() {
    }

    @Override
    public String name() {
        return "delta";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) throws IOException {
        return candidate.isFolder() && candidate.path().resolve(DeltaTable.LOG).isFolder();
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        String version = options.member();
        return DeltaTable.of(path).open(version == null ? "" : version);
    }
}
