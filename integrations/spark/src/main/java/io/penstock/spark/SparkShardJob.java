// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
 * new SparkShardJob(images, "id", Path.of("/shared/train-%06d.tar")).member("jpg", "image").member("cls", "label")
 *         .order(RowOrder.shuffled(42, 1000))
 *         .run();
 * }
 *
 * <p>The key is a column of strings, or what is made one. A column of bytes becomes a member as it is, any other as
 * text; a member that is null is left out.
 *
 * <p>A task writes its shard under a name that no other attempt has; the driver gives the shards of those attempts that
 * count their names, and writes the record of the shards. Readers find the old dataset or the new one. Shards are as
 * large as partitions are: choose as many that each has some hundred MB to some GB.
 *
 * <p>Attempts write to the folder {@code PATTERN.parts} beside the shards, which the driver and all executors see under
 * the same path.
 */
public final class SparkShardJob {

    private final Dataset<Row> rows;
    private final String key;
    private final Path pattern;
    /** The columns by the suffixes of the members. */
    private final SortedMap<String, String> members = new TreeMap<>();
    private RowOrder order = RowOrder.asGiven();
    private IfExists ifExists = IfExists.FAIL;

    /**
     * Creates a job with the defaults: {@link RowOrder#asGiven}, {@link IfExists#FAIL}.
     *
     * @param rows the samples
     * @param key the column with the keys, each of one row
     * @param pattern the path of the shards, with {@code %06d} or {@code %d} in the name for their numbers
     * @throws IllegalArgumentException if there is no such column
     */
    public SparkShardJob(Dataset<Row> rows, String key, Path pattern) {
        this.rows = rows;
        this.key = RowOrder.requireColumn(rows, key);
        this.pattern = pattern.toAbsolutePath();
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
     * @return the shards, in order
     * @throws FileAlreadyExistsException if there is a dataset and it is not to be replaced
     * @throws IOException if shards are not where the driver expects them, or cannot be renamed
     * @throws IllegalArgumentException if no member is chosen, or there is no partition
     */
    public List<Path> run() throws IOException {
        if (members.isEmpty()) {
            throw new IllegalArgumentException("members: found none, expected at least one");
        }
        LocalParts folder = new LocalParts(pattern + ".parts", WebDatasetWriter.recordFor(pattern).toString());
        folder.requireAbsent(ifExists);
        folder.create();
        String run = PartsFolder.newRun();
        try (WebDatasetWriter all = WebDatasetWriter.create(pattern, Long.MAX_VALUE, Long.MAX_VALUE)) {
            for (ShardTask.Shard shard : write(folder, run)) {
                all.adopt(folder.path().resolve(shard.name()));
            }
            List<Path> shards = all.commit();
            folder.deleteAllBut(Set.of());
            Files.deleteIfExists(folder.path());
            return shards;
        } catch (Throwable t) {                     // Spark's are checked, and not declared
            folder.deleteRun(run, t);
            throw t;
        }
    }

    private List<ShardTask.Shard> write(LocalParts folder, String run) {
        List<Column> columns = new ArrayList<>();
        columns.add(functions.col(RowOrder.CONTENT));
        members.values().forEach(column -> columns.add(
                rows.schema().apply(column).dataType().equals(DataTypes.BinaryType) ? functions.col(column)
                        : functions.col(column).cast(DataTypes.StringType).cast(DataTypes.BinaryType)));
        Dataset<Row> samples = order.applyByKey(rows, key).select(columns.toArray(Column[]::new));
        JavaRDD<InternalRow> partitions = PartsFolder.partitions(samples);
        ShardTask task = new ShardTask(folder, run, List.copyOf(members.keySet()));
        return partitions.mapPartitionsWithIndex(task, false).collect().stream()
                .sorted(Comparator.comparingInt(ShardTask.Shard::part)).toList();
    }
}
