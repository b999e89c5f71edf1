// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.mds.MdsShardWriter;
import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes the rows of a partition as a shard of an MDS dataset, under a name that no other attempt has, and returns what
 * it is. The first column of the rows has the key.
 *
 * @param folder where shards are
 * @param run the run of the job
 * @param columns the columns of the rows, by name
 */
record MdsTask(PartsFolder folder, String run, List<MdsColumn> columns)
        implements Function2<Integer, Iterator<InternalRow>, Iterator<MdsTask.Shard>> {

    /**
     * What a task tells the driver of the shard that it wrote.
     *
     * @param part the number of the partition
     * @param attempt the name of the attempt
     * @param samples how many samples it has
     * @param bytes the size of its file
     * @param description what the index says of it
     */
    record Shard(int part, String attempt, long samples, long bytes, String description) implements Serializable {

        String file() {
            return attempt + ENDING;
        }
    }

    private static final String ENDING = ".mds";

    @Override
    public Iterator<Shard> call(Integer part, Iterator<InternalRow> rows) throws IOException {
        String attempt = PartsFolder.attempt(part, run);
        SortedMap<String, String> encodings = new TreeMap<>();
        columns.forEach(column -> encodings.put(column.name(), column.encoding()));
        Shard written = folder.write(attempt + ENDING, path -> {
            try (MdsShardWriter shard = MdsShardWriter.create(path, encodings)) {
                long samples = 0;
                for (; rows.hasNext(); samples++) {
                    shard.write(values(rows.next(), part, samples));
                }
                String description = shard.commit(folder.name() + "/" + attempt + ENDING);
                return new Shard(part, attempt, samples, Files.size(path), description);
            }
        });
        return List.of(written).iterator();
    }

    private List<MemorySegment> values(InternalRow row, int part, long number) {
        List<MemorySegment> values = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            int at = i + 1;                         // behind the key
            if (row.isNullAt(at)) {
                throw new IllegalArgumentException("row " + number + " of partition " + part + ", column "
                        + columns.get(i).name() + ": found null, which MDS has no form for; fill or filter such rows");
            }
            values.add(MemorySegment.ofArray(columns.get(i).bytes(row, at)));
        }
        return values;
    }
}
