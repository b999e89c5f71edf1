package io.penstock.format.npz;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** numpy's archive of arrays. */
public final class NpzProvider implements StoreProvider {

    @Override
    public String name() {
        return NpzFile.FORMAT;
    }

    @Override
    public int order() {
        return 400;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return candidate.startsWith("PK\3\4") || candidate.startsWith("PK\5\6");
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(".npz");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return NpzFile.open(path, options.dtype(), options.decodeLimit());
    }
}
