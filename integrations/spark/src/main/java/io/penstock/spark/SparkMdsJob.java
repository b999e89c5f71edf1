// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.mds.MdsShardWriter;
import io.penstock.format.mds.MdsStore;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * Makes an MDS dataset of rows, in the format of MosaicML's {@code streaming}, which {@link MdsStore} reads: each row a
 * sample, each partition a plain shard.
 *
 * {@snippet :
 * Dataset<Row> images = spark.read().parquet("hdfs:/images");
 * new SparkMdsJob(images, "id", "s3://bucket/imagenet").encoding("image", "jpeg").order(RowOrder.shuffled(42, 1000))
 *         .run();
 * }
 *
 * <p>All columns of the rows are written, in these encodings unless another is named:
 *
 * <table>
 * <caption>Encodings</caption>
 * <tr><th>column</th><th>encoding</th></tr>
 * <tr><td>byte, short, int, long</td><td>{@code int8} to {@code int64}</td></tr>
 * <tr><td>float, double</td><td>{@code float32}, {@code float64}</td></tr>
 * <tr><td>boolean</td><td>{@code uint8}</td></tr>
 * <tr><td>array of numbers</td><td>{@code ndarray:int32} and so on; name one with a shape, such as {@code
 * ndarray:float32:768}, where all values have it</td></tr>
 * <tr><td>bytes</td><td>{@code bytes}; name {@code jpeg}, {@code png} or what else they are</td></tr>
 * <tr><td>decimal</td><td>{@code str_decimal}</td></tr>
 * <tr><td>other arrays, structures, maps</td><td>{@code json}</td></tr>
 * <tr><td>strings and all others</td><td>{@code str}</td></tr>
 * </table>
 *
 * <p>MDS has no nulls: a row with one fails the job.
 *
 * <p>A task writes its shard to {@code OUTPUT/shards}, under a name that no other attempt has. {@code
 * OUTPUT/index.json}, which the driver writes last, names the shards of the attempts that count, with their SHA-256. A
 * dataset that is replaced is the old one until then. Shards are as large as partitions are, at most 4 GiB.
 */
public final class SparkMdsJob {

    private final Dataset<Row> rows;
    private final String key;
    private final PartsFolder folder;
    private final Map<String, String> encodings = new HashMap<>();
    private RowOrder order = RowOrder.asGiven();
    private IfExists ifExists = IfExists.FAIL;

    /**
     * Creates a job with the defaults: {@link RowOrder#asGiven}, {@link IfExists#FAIL}.
     *
     * @param rows the samples
     * @param key the column with the keys, each of one row, by which samples are ordered
     * @param output the dataset's folder: a path that the driver and all executors have, or a URI, as
     *     {@link SparkTokenizeJob} takes it
     * @throws IllegalArgumentException if there is no such column
     */
    public SparkMdsJob(Dataset<Row> rows, String key, String output) {
        this.rows = rows;
        this.key = RowOrder.requireColumn(rows, key);
        this.folder = PartsFolder.of(output + "/shards", output + "/" + MdsStore.INDEX_NAME,
                rows.sparkSession().sparkContext().hadoopConfiguration());
    }

    /**
     * Names the encoding of a column.
     *
     * @param column the column
     * @param encoding the encoding, as MDS names it
     * @return this job
     * @throws IllegalArgumentException if there is no such column, or its numbers cannot have that encoding
     */
    public SparkMdsJob encoding(String column, String encoding) {
        MdsColumn.of(column, type(RowOrder.requireColumn(rows, column)), Optional.of(encoding));
        encodings.put(column, encoding);
        return this;
    }

    private DataType type(String column) {
        return rows.schema().apply(column).dataType();
    }

    /**
     * Sets the order of the samples.
     *
     * @param choice the order, and the number of shards
     * @return this job
     */
    public SparkMdsJob order(RowOrder choice) {
        order = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Sets what to do if there is a dataset in the folder.
     *
     * @param choice {@link IfExists#FAIL}, the default, fails before starting
     * @return this job
     */
    public SparkMdsJob ifExists(IfExists choice) {
        ifExists = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Runs the job. One job at a time may write a dataset.
     *
     * @return the path or URI of the index
     * @throws FileAlreadyExistsException if there is a dataset and it is not to be replaced
     * @throws IOException if a shard is not where the driver expects it, or the index cannot be written
     * @throws IllegalArgumentException if there is no partition
     */
    public String run() throws IOException {
        List<MdsTask.Shard> shards = folder.write(ifExists, false, this::write);
        folder.commit(shards.stream().collect(Collectors.toMap(MdsTask.Shard::file, MdsTask.Shard::bytes)),
                MdsShardWriter.index(shards.stream().map(MdsTask.Shard::description).toList()), ifExists);
        return folder.record();
    }

    /** Writes all shards; returns those with samples, in order, or one if none has. */
    private List<MdsTask.Shard> write(String run) {
        List<MdsColumn> columns = Arrays.stream(rows.columns()).sorted().map(column ->
                MdsColumn.of(column, type(column), Optional.ofNullable(encodings.get(column)))).toList();
        JavaRDD<InternalRow> partitions = PartsFolder.partitions(order.applyByKey(rows, key,
                columns.stream().map(column -> column.selected(type(column.name()))).toList()));
        List<MdsTask.Shard> all = partitions.mapPartitionsWithIndex(new MdsTask(folder, run, columns), false).collect()
                .stream().sorted(Comparator.comparingInt(MdsTask.Shard::part)).toList();
        List<MdsTask.Shard> filled = all.stream().filter(shard -> shard.samples() > 0).toList();
        return filled.isEmpty() ? all.subList(0, 1) : filled;
    }
}
