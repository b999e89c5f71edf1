// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.webdataset.WebDatasetWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes the rows of a partition as a shard, apart from those of other attempts. The first column has the key, and the
 * others the members.
 *
 * @param place where shards are
 * @param run the run of the job
 * @param suffixes of the members, in the order of their columns
 */
record ShardTask(ShardPlace place, String run, List<String> suffixes)
        implements Function2<Integer, Iterator<InternalRow>, Iterator<ShardPlace.Shard>> {

    @Override
    public Iterator<ShardPlace.Shard> call(Integer part, Iterator<InternalRow> rows) throws IOException {
        return List.of(place.write(part, PartsFolder.attempt(part, run), tar -> {
            try (WebDatasetWriter writer = WebDatasetWriter.create(tar, Long.MAX_VALUE, Long.MAX_VALUE)) {
                for (long number = 0; rows.hasNext(); number++) {
                    InternalRow row = rows.next();
                    if (row.isNullAt(0)) {
                        throw new IllegalArgumentException("row " + number + " of partition " + part
                                + ": found null, expected a key");
                    }
                    writer.write(new String(row.getBinary(0), StandardCharsets.UTF_8), members(row));
                }
                writer.commit();
            }
        })).iterator();
    }

    private Map<String, MemorySegment> members(InternalRow row) {
        Map<String, MemorySegment> members = new HashMap<>();
        for (int i = 0; i < suffixes.size(); i++) {
            if (!row.isNullAt(i + 1)) {
                members.put(suffixes.get(i), MemorySegment.ofArray(row.getBinary(i + 1)));
            }
        }
        return members;
    }
}
