// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** HDF5, with or without a user block before it. */
public final class Hdf5Provider implements StoreProvider {

    @Override
    public String name() {
        return "hdf5";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return Superblock.isAt(candidate.head(), 0) || Superblock.isAt(candidate.head(), 512);
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(".h5", ".hdf5", ".he5", ".h5ad", ".hdf");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return Hdf5Store.open(path, options.member(), options.decodeLimit());
    }
}
