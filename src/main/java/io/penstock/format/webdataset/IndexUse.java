package io.penstock.format.webdataset;

/** Where shard indices come from, and whether they are saved. */
public enum IndexUse {
    /**
     * The sidecar file beside the shard is read. If there is none that holds, the index is made and written there,
     * where that is allowed, and worth it: not beside shards that are read in no time.
     */
    SIDECAR,
    /** The sidecar file is read if there is one that holds; nothing is ever written. */
    READ_ONLY,
    /** Indices are made each time, and kept in memory; sidecar files are neither read nor written. */
    MEMORY
}
