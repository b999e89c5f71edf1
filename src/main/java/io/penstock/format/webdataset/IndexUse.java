// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

/** The source of shard indices, and whether they are saved. */
public enum IndexUse {
    /**
     * Read the sidecar file beside the shard. If there is no valid one, build the index, and write the file unless the
     * folder is read-only or the shard is small.
     */
    SIDECAR,
    /** Read the sidecar file if there is a valid one; write nothing. */
    READ_ONLY,
    /** Build indices at each open and keep them in memory; neither read nor write sidecar files. */
    MEMORY
}
