// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

import java.util.List;
import org.jspecify.annotations.Nullable;

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

    /**
     * Marks on the device that a phase of a batch's step begins, and that the one before it ends; the last one ends
     * when the batch is closed. Has no effect unless the loader uses the device's clock, the batch is the one that was
     * taken last, a stream took it, and it is not closed. The device does not time the phases of a batch with more than
     * eight marks. Called by the thread that takes batches, while it captures no CUDA graph.
     *
     * @param sequence the batch's number since the loader opened
     * @param phase what begins; null for nothing
     * @throws IllegalStateException if the device reports an error: the loader has then failed
     */
    void began(long sequence, @Nullable Phase phase);

    /** {@return the number of the batch taken last; {@link BatchAccount#NOT_MEASURED} before the first} */
    long newest();

    /**
     * {@return the complete accounts of returned batches in order, at most the latest few thousand}
     *
     * @param from the first batch
     */
    List<BatchAccount> since(long from);

    /**
     * Measures what keeping accounts costs, which takes some milliseconds.
     *
     * @param accounts accounts of this loader, in order
     * @return the mean nanoseconds per step, over all steps from the first account to the last, including those without
     *     one; 0 without accounts
     */
    double costNanos(List<BatchAccount> accounts);
}
