// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.util.Optional;

/** WebDataset: samples as files in plain or compressed tars. */
public final class WebDatasetProvider implements StoreProvider {

    /** Called by the service loader. */
    public WebDatasetProvider() {
    }

    @Override
    public String name() {
        return "webdataset";
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return TarReader.isHeader(candidate.head());
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFolder() ? ShardList.isFolderOfTars(candidate.path())
                : ShardList.isShardOrPattern(candidate.path());
    }

    @Override
    public Optional<StoreWriter> writer() {
        return Optional.of(new WebDatasetSamples());
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return WebDatasetStore.open(path, options.decodeLimit());
    }
}
