// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** MosaicML's plain shards and their index. */
final class MdsFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("mds", "mds",
            "index.json", "shard.00000.mds", "shard.00001.mds", "shard.00002.mds").opening("");

    private MdsFuzz() {
    }
}
