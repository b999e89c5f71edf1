// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * Makes a WebDataset of rows: each row a sample, each partition a shard.
 *
 * {@snippet :
 * Dataset<Row> images = spark.read().parquet("s3a://bucket/images");
 * new SparkShardJob(images, "id", "s3://bucket/train-%06d.tar").member("jpg", "image").member("cls", "label")
 *         .order(RowOrder.shuffled(42, 1000))
 *         .run();
 * }
 *
 * <p>The key is a column of strings, or what is made one. A column of bytes becomes a member as it is, any other as
 * text; a member that is null is left out.
 *
 * <p>Shards are as large as partitions are: choose as many that each has some hundred MB to some GB.
 *
 * <p><b>In a folder</b> that the driver and all executors see under the same path. A task writes its shard in the
 * folder {@code PATTERN.parts}, under a name that no other attempt has. The driver gives the shards of those attempts
 * that count their names, and writes the record of the shards. Readers find the old dataset or the new one.
 *
 * <p><b>In a bucket.</b> A task writes its shard in {@code java.io.tmpdir} and sends it, but no object is made: nobody
 * sees it. The driver makes the record and then the objects of the attempts that count. Of a dataset that is replaced
 * there is neither the old one nor the new one while it does so. Credentials are those of {@link
 * io.penstock.remote.RemoteSettings#fromEnvironment} on the driver and on each executor.
 */
public final class SparkShardJob {

    private final Dataset<Row> rows;
    private final String key;
    private final ShardPlace place;
    /** The columns by the suffixes of the members. */
    private final SortedMap<String, String> members = new TreeMap<>();
    private RowOrder order = RowOrder.asGiven();
    private IfExists ifExists = IfExists.FAIL;

    /**
     * Creates a job with the defaults: {@link RowOrder#asGiven}, {@link IfExists#FAIL}.
     *
     * @param rows the samples
     * @param key the column with the keys, each of one row
     * @param pattern the shards, with {@code %06d} or {@code %d} in the name for their numbers: a path that the driver
     *     and all executors have, or {@code s3://BUCKET/KEY}
     * @throws IllegalArgumentException if there is no such column, or the pattern is something else
     */
    public SparkShardJob(Dataset<Row> rows, String key, String pattern) {
        this.rows = rows;
        this.key = RowOrder.requireColumn(rows, key);
        this.place = ShardPlace.of(pattern, rows.sparkSession().sparkContext());
    }

    /**
     * Adds a member to each sample.
     *
     * @param suffix its suffix, in lower case, for example {@code jpg}
     * @param column the column that has it
     * @return this job
     * @throws IllegalArgumentException if there is no such column
     */
    public SparkShardJob member(String suffix, String column) {
        members.put(suffix, RowOrder.requireColumn(rows, column));
        return this;
    }

    /**
     * Sets the order of the samples.
     *
     * @param choice the order, and the number of shards
     * @return this job
     */
    public SparkShardJob order(RowOrder choice) {
        order = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Sets what to do if there is a dataset of this pattern.
     *
     * @param choice {@link IfExists#FAIL}, the default, fails before starting
     * @return this job
     */
    public SparkShardJob ifExists(IfExists choice) {
        ifExists = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Runs the job. One job at a time may write a dataset.
     *
     * @return the paths or URIs of the shards, in order
     * @throws FileAlreadyExistsException if there is a dataset and it is not to be replaced
     * @throws IOException if shards are not where the driver expects them, or cannot be published
     * @throws IllegalArgumentException if no member is chosen, or there is no partition
     */
    public List<String> run() throws IOException {
        if (members.isEmpty()) {
            throw new IllegalArgumentException("members: found none, expected at least one");
        }
        return place.publish(ifExists, this::write);
    }

    /** Writes all shards; returns them in order. */
    private List<ShardPlace.Shard> write(String run) {
        List<Column> columns = members.values().stream().map(column ->
                rows.schema().apply(column).dataType().equals(DataTypes.BinaryType) ? functions.col(column)
                        : functions.col(column).cast(DataTypes.StringType).cast(DataTypes.BinaryType)).toList();
        JavaRDD<InternalRow> partitions = PartsFolder.partitions(order.applyByKey(rows, key, columns));
        ShardTask task = new ShardTask(place, run, List.copyOf(members.keySet()));
        return partitions.mapPartitionsWithIndex(task, false).collect().stream()
                .sorted(Comparator.comparingInt(ShardPlace.Shard::part)).toList();
    }
}
