// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.penstock.io.Location;
import io.penstock.lake.ChangesProvider;
import io.penstock.lake.LakeTable;
import java.io.IOException;

/**
 * Opens the changes of a Delta table by name: {@code delta:FOLDER}, with {@code #from=VERSION} those after a version,
 * and with {@code changes=skip} without versions that deleted or replaced rows and have no change feed.
 */
public final class DeltaChangesProvider extends ChangesProvider {

    /** For {@link java.util.ServiceLoader}. */
    public DeltaChangesProvider() {
        super("delta", "VERSION");
    }

    @Override
    protected LakeTable table(Location place) throws IOException {
        return DeltaTable.of(place);
    }
}
