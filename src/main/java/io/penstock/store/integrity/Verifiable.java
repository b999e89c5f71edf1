// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.io.Location;
import io.penstock.store.Progress;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A store whose format has its own checksums. */
public interface Verifiable {

    /**
     * {@return the format's name for its checksums, for reports, for example {@code index hashes}; null if this store
     * was written without them}
     */
    @Nullable String checksum();

    /** {@return those of the store's files that have no such checksum, for example the index that has the others'} */
    default Set<Location> uncovered() {
        return Set.of();
    }

    /**
     * Reads everything that the format's checksums cover, and reports mismatches.
     *
     * @param faults receives each fault; its check is {@link #checksum}
     * @param progress receives how much is read
     * @throws IOException if a file cannot be read
     */
    void verify(Consumer<Fault> faults, Progress progress) throws IOException;
}
