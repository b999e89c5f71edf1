// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** MosaicML's compressed shards and their index. */
final class MdsZstdFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("mds", "mds",
            "index.json", "shard.00000.mds.zstd", "shard.00001.mds.zstd").opening("");

    private MdsZstdFuzz() {
    }
}
