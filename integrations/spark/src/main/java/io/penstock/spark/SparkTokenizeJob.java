// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.store.IfExists;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;
import org.jspecify.annotations.Nullable;

/**
 * Makes a token store of the documents in a column, in parts that the tasks write.
 *
 * {@snippet :
 * Dataset<Row> documents = spark.read().parquet("hdfs:/corpus");
 * new SparkTokenizeJob(documents, "text", TokenizerSource.published("gpt2"), "/shared/tokens")
 *         .appendEndOfText()
 *         .order(RowOrder.shuffled(42, 1000))
 *         .dropDuplicates()
 *         .run();
 * }
 *
 * <p>The column has text, UTF-8 bytes, or tokens (an array of whole numbers). Row by row, it becomes a document; a null
 * is refused.
 *
 * <p><b>Exactly once.</b> A task writes its part under a name that no other attempt has, and Spark takes one attempt's
 * result for each partition: retries, speculative copies and killed executors change nothing. {@code
 * OUTPUT.manifest.json}, which the driver writes last, names those attempts. It appears complete or not at all; then
 * the files of other attempts are deleted (those of one that still runs, by the next job). If the driver is killed, run
 * the job again: with the same {@linkplain #resumable name} it takes over the parts that are finished.
 *
 * <p><b>Where.</b> The parts are in the folder {@code OUTPUT.parts}. Output is best a path of a file system that the
 * driver and all executors have (NFS, Lustre). To a bucket ({@code s3://BUCKET/KEY}), a task uploads its part when it
 * is complete. Until then the part is in the cache's folder; its place and the credentials are those of
 * {@link io.penstock.remote.RemoteSettings#fromEnvironment} on the driver and on each executor. To a file system of
 * Hadoop, such as HDFS, a task copies its part from {@code java.io.tmpdir}.
 */
public final class SparkTokenizeJob {

    private final Dataset<Row> rows;
    private final String column;
    private final boolean isTokens;
    private final TokenizerSource tokenizer;
    private final PartsFolder folder;
    private RowOrder order = RowOrder.asGiven();
    private List<String> alike = List.of();
    private boolean appendEndOfText;
    private long minTokens;
    private long maxTokens = Long.MAX_VALUE;
    private IfExists ifExists = IfExists.FAIL;
    private @Nullable String name;
    private @Nullable ChatSource chats;

    /**
     * Creates a job with the defaults: partitions as they are, all documents, no end-of-text token,
     * {@link IfExists#FAIL}.
     *
     * @param rows the documents, one a row
     * @param column the column that has them
     * @param tokenizer encodes text; of documents that are tokens already it says which tokenizer made them
     * @param output the store without suffix: a path that the driver and all executors have, or a URI such as {@code
     *     s3://bucket/tokens} or {@code hdfs:/tokens}
     * @throws IllegalArgumentException if there is no such column, or it has neither text nor tokens; names it
     */
    public SparkTokenizeJob(Dataset<Row> rows, String column, TokenizerSource tokenizer, String output) {
        DataType type = rows.schema().apply(RowOrder.requireColumn(rows, column)).dataType();
        this.isTokens = type instanceof ArrayType array && array.elementType() instanceof IntegralType;
        if (!isTokens && !(type instanceof StringType) && !type.equals(DataTypes.BinaryType)) {
            throw new IllegalArgumentException("column " + column + ": found " + type.simpleString()
                    + ", expected string, binary, or an array of whole numbers");
        }
        DataType stored = isTokens ? DataTypes.createArrayType(DataTypes.LongType) : DataTypes.BinaryType;
        this.rows = rows.withColumn(RowOrder.CONTENT, rows.col(column).cast(stored));
        this.column = column;
        this.tokenizer = tokenizer;
        this.folder = PartsFolder.of(output + ".parts", output + Manifest.ENDING,
                rows.sparkSession().sparkContext().hadoopConfiguration());
    }

    /**
     * Sets the order of the documents; {@link RowOrder#asGiven} by default.
     *
     * @param choice the order, and the number of parts
     * @return this job
     */
    public SparkTokenizeJob order(RowOrder choice) {
        order = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Keeps one of the documents that are alike: the first in the order, which must be {@link RowOrder#shuffled} or
     * {@link RowOrder#by}. So the same ones survive on any cluster.
     *
     * @param columns by which columns documents are compared, for example a normalized text; none means the document
     * @return this job
     */
    public SparkTokenizeJob dropDuplicates(String... columns) {
        alike = columns.length == 0 ? List.of(RowOrder.CONTENT) : List.of(columns);
        return this;
    }

    /**
     * Makes tokens of conversations, as {@code penstock tokenize --chat} does: a document is a record in JSON, of which
     * {@link JsonLines#records} gives those of lines, and {@code to_json(struct("*"))} those of a table with columns.
     * The store says which tokens are trained on. Records that are left out count as filtered.
     *
     * @param source makes the tokens
     * @return this job
     * @throws IllegalArgumentException if the column has tokens already
     */
    public SparkTokenizeJob conversations(ChatSource source) {
        if (isTokens) {
            throw new IllegalArgumentException("column " + column + ": found tokens, expected records in JSON");
        }
        chats = Objects.requireNonNull(source);
        return this;
    }

    /**
     * Appends the end-of-text token to each document.
     *
     * @return this job
     */
    public SparkTokenizeJob appendEndOfText() {
        appendEndOfText = true;
        return this;
    }

    /**
     * Leaves out documents by their length. The end-of-text token that the job appends does not count.
     *
     * @param min the shortest document to write, in tokens; at least 0
     * @param max the longest document to write, in tokens
     * @return this job
     * @throws IllegalArgumentException if the least is negative or above the most
     */
    public SparkTokenizeJob documentTokens(long min, long max) {
        if (min < 0 || max < min) {
            throw new IllegalArgumentException("tokens of a document: found at least " + min + " and at most " + max
                    + ", expected at least 0, and at most as many or more");
        }
        minTokens = min;
        maxTokens = max;
        return this;
    }

    /**
     * Sets what to do if the store exists.
     *
     * @param choice {@link IfExists#FAIL}, the default, fails before starting
     * @return this job
     */
    public SparkTokenizeJob ifExists(IfExists choice) {
        ifExists = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Lets a later run with this name take over the parts that this one finished, if it has the same options and number
     * of parts. Rows are not compared: who changes them chooses another name. Rows that are not ordered must come in
     * the same partitions.
     *
     * @param job the job's name
     * @return this job
     */
    public SparkTokenizeJob resumable(String job) {
        name = Objects.requireNonNull(job);
        return this;
    }

    /**
     * Runs the job. One job at a time may write a store.
     *
     * @return what was written
     * @throws FileAlreadyExistsException if the store exists and is not to be replaced
     * @throws IOException if a part's files are not where the driver looks for them, or one cannot be written
     * @throws IllegalArgumentException if there is no partition, {@link #dropDuplicates} has no order, or answers are
     *     to have an end-of-text token
     */
    public SparkTokenizeSummary run() throws IOException {
        if (appendEndOfText && tokenizer.with(chats).content() == TokenContent.ANSWERS) {
            throw new IllegalArgumentException("found answers with an end-of-text token behind them, expected none");
        }
        SparkTokenizeSummary written = folder.write(ifExists, name != null, this::write);
        Map<String, Long> files = new TreeMap<>();
        for (ManifestPart inFolder : written.manifest().parts()) {
            ManifestPart part = inFolder.in("");
            files.put(part.path() + ".bin", part.tokenBytes());
            files.put(part.path() + ".idx", part.indexBytes());
        }
        folder.commit(files, written.manifest().toJson(), ifExists);
        return written;
    }

    /** Writes all parts. */
    private SparkTokenizeSummary write(String run) throws IOException {
        Dataset<Row> kept = alike.isEmpty() ? rows : order.withoutDuplicates(rows, alike);
        JavaSparkContext context = JavaSparkContext.fromSparkContext(rows.sparkSession().sparkContext());
        Broadcast<TokenizerSource> sent = context.broadcast(tokenizer.with(chats));
        PartTask.Form form = isTokens ? PartTask.Form.IDS
                : order.movesValues() ? PartTask.Form.STORED : PartTask.Form.TEXT;
        Column document = functions.col(RowOrder.CONTENT);
        JavaRDD<InternalRow> partitions = PartsFolder.partitions(order.apply(kept, rows,
                form == PartTask.Form.STORED
                        ? functions.udf(new DocumentEncoder(sent), DataTypes.BinaryType).apply(document) : document));
        int count = partitions.getNumPartitions();
        String job = job(count, run);
        Map<Integer, ManifestPart> finished = name == null ? Map.of() : folder.finished(job);
        int[] missing = IntStream.range(0, count).filter(part -> !finished.containsKey(part)).toArray();
        PartTask task = new PartTask(sent, folder, run, count, job,
                new PartTask.Options(form, appendEndOfText, minTokens, maxTokens));
        List<PartResult> results = Stream.of(partitions.mapPartitionsWithIndex(task, false).collectPartitions(missing))
                .flatMap(List::stream).toList();
        List<ManifestPart> parts = new ArrayList<>(finished.values());
        results.forEach(result -> parts.add(ManifestPart.parse(result.description())));
        Manifest manifest = Manifest.of(parts.stream().map(part -> part.in(folder.name())).toList());
        return new SparkTokenizeSummary(folder.record(), manifest, finished.size(),
                results.stream().mapToLong(PartResult::filteredDocuments).sum());
    }

    /** A digest of what all parts have in common. */
    private String job(int count, String run) {
        int endOfText = appendEndOfText ? tokenizer.tokenizer().endOfText() : -1;
        String common = String.join("\n", name == null ? run : name, column, tokenizer.vocabularySha256(),
                order.toString(), alike.toString(), count + " " + isTokens + " " + endOfText + " " + minTokens + " "
                + maxTokens + (chats == null ? "" : "\n" + Objects.requireNonNull(tokenizer.with(chats).lines())
                        .fingerprint()));
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256")
                    .digest(common.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);      // every JDK has it
        }
    }
}
