package io.penstock.format.datatrove;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** datatrove's tokenized files: raw tokens in {@code .ds}, document ends in {@code .ds.index}. */
public final class DatatroveProvider implements StoreProvider {

    @Override
    public String name() {
        return DatatroveFiles.FORMAT;
    }

    @Override
    public int order() {
        return 1300;
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() && (DatatroveFiles.indexOf(candidate.path()).exists()
                || candidate.nameEndsWith(".ds") || DatatroveFiles.isCompanion(candidate.path()));
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return DatatroveFiles.open(path, options.dtype());
    }
}
