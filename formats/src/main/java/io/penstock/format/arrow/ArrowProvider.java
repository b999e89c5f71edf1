// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.format.table.Partitions;
import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** Arrow IPC files and streams, and folders of them as saved by Hugging Face datasets. */
public final class ArrowProvider implements StoreProvider {

    @Override
    public String name() {
        return "arrow";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) throws IOException {
        return candidate.startsWith(ArrowFile.HEAD) || ArrowMessage.isStream(candidate.path(), candidate.head())
                || candidate.isFolder() && ArrowFiles.isDataset(candidate.path());
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() && candidate.nameEndsWith(".arrow", ".arrows", ".feather")
                || candidate.holdsEnding(ArrowFiles.ENDING)
                || candidate.isFolder() && Partitions.isPartitioned(candidate.path(), ArrowFiles.ENDING);
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return ArrowStore.open(path, options.member(), options.decodeLimit());
    }
}
