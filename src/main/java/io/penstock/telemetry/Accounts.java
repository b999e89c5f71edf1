// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

import java.util.List;

/** The accounts of a loader's latest batches. Thread-safe. */
public interface Accounts {

    /**
     * Adds compute time marked by the trainer; without any mark, the time it holds the batch counts as compute. Called
     * by the thread that has the batch.
     *
     * @param sequence the batch's number since the loader opened
     * @param nanos time spent
     */
    void computed(long sequence, long nanos);

    /** {@return the number of the batch taken last; {@link BatchAccount#NOT_MEASURED} before the first} */
    long newest();

    /**
     * {@return the complete accounts of returned batches in order, at most the latest few thousand}
     *
     * @param from the first batch
     */
    List<BatchAccount> since(long from);
}
