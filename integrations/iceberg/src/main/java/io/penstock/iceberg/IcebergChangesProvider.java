// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.io.Location;
import io.penstock.lake.ChangesProvider;
import io.penstock.lake.LakeTable;
import java.io.IOException;

/**
 * Opens the rows that were appended to an Iceberg table by name: {@code iceberg:FOLDER} or
 * {@code iceberg:NAME.iceberg}, with {@code #from=SNAPSHOT} those after a snapshot, and with {@code changes=skip}
 * without snapshots that deleted or replaced rows.
 */
public final class IcebergChangesProvider extends ChangesProvider {

    /** For {@link java.util.ServiceLoader}. */
    public IcebergChangesProvider() {
        super("iceberg", "SNAPSHOT");
    }

    @Override
    protected LakeTable table(Location place) throws IOException {
        return IcebergProvider.table(place);
    }
}
