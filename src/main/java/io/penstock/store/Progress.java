// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

/** Receives the progress of a long operation. */
@FunctionalInterface
public interface Progress {

    /** Ignores progress. */
    Progress NONE = (_, _) -> { };

    /**
     * Reports progress. The working thread calls this about every MiB.
     *
     * @param doneBytes bytes done
     * @param totalBytes bytes in total
     */
    void update(long doneBytes, long totalBytes);
}
