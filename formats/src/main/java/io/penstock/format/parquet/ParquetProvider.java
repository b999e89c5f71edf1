// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.table.Partitions;
import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** Parquet: tables whose columns are encoded and compressed in row groups; one file, or a folder of them. */
public final class ParquetProvider implements StoreProvider {

    @Override
    public String name() {
        return "parquet";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return candidate.startsWith(FileMetadata.MAGIC) || candidate.startsWith(FileMetadata.ENCRYPTED_MAGIC);
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() && candidate.nameEndsWith(ParquetStore.ENDING)
                || candidate.holdsEnding(ParquetStore.ENDING)
                || candidate.isFolder() && Partitions.isPartitioned(candidate.path(), ParquetStore.ENDING);
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return ParquetStore.open(path, options.member(), options.decodeLimit());
    }
}
