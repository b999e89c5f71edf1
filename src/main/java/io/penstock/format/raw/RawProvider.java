package io.penstock.format.raw;

import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.nio.file.Path;

/** Rows of numbers without a header, of a dtype and a shape that are told; never recognised. */
public final class RawProvider implements StoreProvider {

    /** For the service loader. */
    public RawProvider() {
    }

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public int order() {
        return 1600;
    }

    @Override
    public Store open(Path path, OpenOptions options) throws IOException {
        return RawStore.open(path, options.dtype(), options.shape());
    }
}
