// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.chat.AnswerTokenizer;
import io.penstock.chat.ChatTokenizer;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The main class for {@code spark-submit}: what {@link SparkTokenizeJob} does, of files that Spark reads. */
@Command(
        name = "spark-submit --class io.penstock.spark.SparkTokenize penstock-spark.jar",
        description = "Tokenizes what Spark reads into a token store.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {"", "The store is STORE.manifest.json with its parts in STORE.parts. It appears complete or not at"
            + " all."})
public final class SparkTokenize implements Callable<Integer> {

    /** The column of records with conversations. */
    private static final String RECORD = "penstock_record";

    @Parameters(arity = "1..*", paramLabel = "PATH", description = "Files and folders to read, as Spark names them.")
    private List<String> inputs = List.of();

    @Option(names = {"-o", "--output"}, required = true, paramLabel = "STORE",
            description = "Store to write, without a suffix: a path that the driver and all executors see,"
                    + " s3://BUCKET/KEY, or a URI of Hadoop's.")
    private String output = "";

    @Option(names = "--format", paramLabel = "NAME", defaultValue = "parquet",
            description = "jsonl: the column is a field of JSON lines, read as penstock tokenize does; or a reader of"
                    + " Spark's: parquet, json, text, orc, …; default: ${DEFAULT-VALUE}.")
    private String format = "";

    @Option(names = "--reader-option", paramLabel = "KEY=VALUE", description = "An option of that reader.")
    private Map<String, String> readerOptions = new LinkedHashMap<>();

    @Option(names = "--column", paramLabel = "NAME", defaultValue = "text",
            description = "Column with the documents: text, or tokens; default: ${DEFAULT-VALUE}.")
    private String column = "";

    @Option(names = "--encoding", paramLabel = "NAME", defaultValue = "gpt2",
            description = "gpt2 (default), r50k_base, p50k_base, p50k_edit, cl100k_base or o200k_base.")
    private String encoding = "";

    @Option(names = "--vocabulary", paramLabel = "FILE",
            description = "tokenizer.json of a model of Hugging Face, or a .tiktoken file with the vocabulary of"
                    + " --encoding; only the driver reads it.")
    private @Nullable Path vocabulary;

    @Option(names = "--end-of-text", paramLabel = "TOKEN",
            description = "Special token of the tokenizer.json that ends a document; default: <|endoftext|>,"
                    + " <|end_of_text|> or </s>.")
    private @Nullable String endOfText;

    @Option(names = "--chat", paramLabel = "TEMPLATE",
            description = "Rows are conversations: make their tokens by a model's folder or file with a template, or by"
                    + " the name of a common one, and mark those to train on. With --format jsonl a line is a record,"
                    + " else the columns of a row are its members.")
    private @Nullable String chat;

    @Option(names = "--preferences", description = "With --chat: tokenize all answers of a record.")
    private boolean preferences;

    @Option(names = "--max-length", paramLabel = "N",
            description = "With --chat: leave out conversations of more than N tokens.")
    private int maxLength = Integer.MAX_VALUE;

    @Option(names = "--append-eot", description = "Append the end-of-text token to each document.")
    private boolean appendEndOfText;

    @Option(names = "--shuffle", paramLabel = "SEED", description = "Shuffle all documents.")
    private @Nullable Long seed;

    @Option(names = "--order-by", split = ",", paramLabel = "COLUMN",
            description = "Order all documents by these columns; default: as Spark's partitions have them.")
    private List<String> orderColumns = List.of();

    @Option(names = "--parts", paramLabel = "N",
            description = "Parts to write with --shuffle or --order-by, a task each: some GB of text, but at least a"
                    + " few for each core.")
    private int parts;

    @Option(names = "--drop-duplicates", description = "Keep one of documents with the same content.")
    private boolean dropDuplicates;

    @Option(names = "--min-tokens", paramLabel = "N", description = "Leave out documents of fewer tokens.")
    private long minTokens;

    @Option(names = "--max-tokens", paramLabel = "N", description = "Leave out documents of more tokens.")
    private long maxTokens = Long.MAX_VALUE;

    @Option(names = "--job", paramLabel = "NAME",
            description = "Name of the job; if it is run again with this name, it takes over finished parts.")
    private @Nullable String job;

    @Option(names = "--force", description = "Replace an existing store.")
    private boolean force;

    private SparkTokenize() {
    }

    /**
     * Runs the command. Ends the process with a status other than 0 if it fails.
     *
     * @param arguments its options and parameters; {@code --help} lists them
     */
    public static void main(String[] arguments) {
        int status = new CommandLine(new SparkTokenize()).execute(arguments);
        if (status != 0) {
            System.exit(status);
        }
    }

    @Override
    public Integer call() throws IOException {
        if ((seed != null || !orderColumns.isEmpty()) != parts > 0 || seed != null && !orderColumns.isEmpty()) {
            System.err.println("--parts needs one of --shuffle and --order-by, and each of those needs --parts");
            return CommandLine.ExitCode.USAGE;
        }
        if (endOfText != null && !isJson(vocabulary)) {
            System.err.println("--end-of-text needs --vocabulary with a tokenizer.json");
            return CommandLine.ExitCode.USAGE;
        }
        if (chat == null && (preferences || maxLength != Integer.MAX_VALUE)) {
            System.err.println("--preferences and --max-length need --chat");
            return CommandLine.ExitCode.USAGE;
        }
        SparkSession spark = SparkSession.builder().appName("penstock tokenize").getOrCreate();
        try {
            SparkTokenizeSummary written = job(rows(spark, inputs.toArray(String[]::new))).run();
            System.out.printf(Locale.ROOT, "%s: %,d tokens of %s in %,d documents and %d parts (%s)%s%n",
                    written.store(),
                    written.manifest().tokens(), written.manifest().dtype(), written.manifest().documents(),
                    written.manifest().parts().size(), written.manifest().origin().tokenizer(),
                    written.resumedParts() == 0 ? "" : ", " + written.resumedParts() + " of an earlier run");
        } finally {
            spark.stop();
        }
        return CommandLine.ExitCode.OK;
    }

    private Dataset<Row> rows(SparkSession spark, String[] paths) {
        boolean isLines = format.equals("jsonl");
        if (chat != null && isLines) {
            return JsonLines.records(spark, RECORD, paths);
        }
        Dataset<Row> rows = isLines ? JsonLines.read(spark, column, paths)
                : spark.read().format(format).options(readerOptions).load(paths);
        return chat == null ? rows : rows.withColumn(RECORD, functions.to_json(functions.struct(functions.col("*"))));
    }

    private SparkTokenizeJob job(Dataset<Row> rows) throws IOException {
        SparkTokenizeJob made = new SparkTokenizeJob(rows, chat == null ? column : RECORD, tokenizer(), output)
                .documentTokens(minTokens, maxTokens).ifExists(force ? IfExists.REPLACE : IfExists.FAIL);
        if (chat != null) {
            made.conversations(chats(chat));
        }
        if (seed != null) {
            made.order(RowOrder.shuffled(seed, parts));
        } else if (!orderColumns.isEmpty()) {
            made.order(RowOrder.by(parts, orderColumns.toArray(String[]::new)));
        }
        if (dropDuplicates) {
            made.dropDuplicates();
        }
        if (appendEndOfText) {
            made.appendEndOfText();
        }
        return job == null ? made : made.resumable(job);
    }

    private ChatSource chats(String template) throws IOException {
        boolean hasAnswers = preferences;
        int most = maxLength;
        ChatSource.Settings settings = made -> {
            ChatTokenizer bounded = made.maxTokens(most, ChatTokenizer.Truncation.LEAVE_OUT);
            return hasAnswers ? AnswerTokenizer.of(bounded) : bounded;
        };
        Path path = Path.of(template);
        return Files.exists(path) ? ChatSource.of(path, settings) : ChatSource.named(template, settings);
    }

    private TokenizerSource tokenizer() throws IOException {
        Path beside = chat == null ? null : Path.of(chat, "tokenizer.json");
        if (vocabulary == null && beside != null && Files.isRegularFile(beside)) {
            return TokenizerSource.of(beside);
        }
        if (vocabulary == null) {
            return TokenizerSource.published(encoding);
        }
        if (!isJson(vocabulary)) {
            return TokenizerSource.published(encoding, vocabulary);
        }
        return endOfText == null ? TokenizerSource.of(vocabulary) : TokenizerSource.of(vocabulary, endOfText);
    }

    private static boolean isJson(@Nullable Path file) {
        return file != null && String.valueOf(file.getFileName()).endsWith(".json");
    }
}
