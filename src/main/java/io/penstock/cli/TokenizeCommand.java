// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.codec.DecodeLimit;
import io.penstock.json.Json;
import io.penstock.store.IfExists;
import io.penstock.text.NumberText;
import io.penstock.tokenize.CorpusShard;
import io.penstock.tokenize.TokenizeJob;
import io.penstock.tokenize.TokenizeSummary;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock tokenize}. */
@Command(
        name = "tokenize",
        description = "Tokenizes text into a token store.",
        footer = {"", "Example: penstock tokenize corpus/ -o out --append-eot",
            "", "In a .jsonl, .ndjson or .json file each line is an object with one document; blank lines are skipped."
                + " Every other file is text and one document. Both kinds may be compressed (.gz, .zst). A folder's"
                + " files are read in the order of their names, without hidden files.",
            "", "A link in a folder is followed if it leads to a file in the same folder; other links are skipped and"
                + " counted.",
            "", "Text must be UTF-8. A byte order mark at the start of a file is removed. Empty documents are kept.",
            "", "The store is in Megatron's format: STORE.bin and STORE.idx. It appears complete or not at all.",
            "", "On several machines: each runs the same command with its own --shard and writes a part,"
                + " STORE-00003-of-00016. Then 'penstock manifest STORE-*.idx -o STORE' makes the parts one store."})
final class TokenizeCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "FILE|DIR", description = "Files and folders to read, in this order.")
    private List<Path> inputs;

    @Option(names = {"-o", "--output"}, required = true, paramLabel = "STORE",
            description = "Store to write, without a suffix.")
    private Path output;

    @Option(names = "--encoding", defaultValue = "gpt2", paramLabel = "NAME",
            description = "gpt2 (default), r50k_base, p50k_base, p50k_edit, cl100k_base or o200k_base.")
    private String encoding;

    @Option(names = "--vocabulary", paramLabel = "FILE",
            description = "tokenizer.json of a model of Hugging Face, or a .tiktoken file with the vocabulary of"
                    + " --encoding.")
    private Path vocabulary;

    @Option(names = "--end-of-text", paramLabel = "TOKEN",
            description = "Special token of the tokenizer.json that ends a document; default: <|endoftext|>,"
                    + " <|end_of_text|> or </s>.")
    private String endOfText;

    @Option(names = "--append-eot", description = "Append the end-of-text token to each document.")
    private boolean appendEndOfText;

    @Option(names = "--field", defaultValue = "text", paramLabel = "NAME",
            description = "Field of a JSON line with the document; default: ${DEFAULT-VALUE}.")
    private String field;

    @Option(names = "--min-tokens", defaultValue = "0", paramLabel = "N",
            description = "Leave out documents of fewer tokens.")
    private long minTokens;

    @Option(names = "--max-tokens", paramLabel = "N", description = "Leave out documents of more tokens.")
    private Long maxTokens;

    @Option(names = "--max-total-tokens", paramLabel = "N",
            description = "End before the first document that would make the store longer than N tokens.")
    private Long maxTotalTokens;

    @Option(names = "--shard", paramLabel = "I/N",
            description = "Tokenize only the I-th of N equal shares of the input, counted from 0, as a part for"
                    + " 'penstock manifest'.")
    private CorpusShard shard;

    @Option(names = "--threads", paramLabel = "N", description = "Threads; default: one per processor.")
    private Integer threads;

    @Option(names = "--follow-links",
            description = "Follow every link in a folder; default: only links to files in the same folder.")
    private boolean followLinks;

    @Mixin
    private DecodeOptions decode;

    @Option(names = "--force", description = "Replace an existing store.")
    private boolean force;

    @Override
    public Integer call() throws IOException, InterruptedException {
        TokenizeJob job = new TokenizeJob(tokenizer(), inputs, output)
                .textField(field).ifExists(force ? IfExists.REPLACE : IfExists.FAIL)
                .decodeLimit(decode.limit(DecodeLimit.TEXT));
        try {
            job.documentTokens(minTokens, maxTokens == null ? Long.MAX_VALUE : maxTokens)
                    .maxTotalTokens(maxTotalTokens == null ? Long.MAX_VALUE : maxTotalTokens);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--min-tokens, --max-tokens, --max-total-tokens: "
                    + e.getMessage(), e);
        }
        if (shard != null) {
            job.shard(shard);
        }
        if (appendEndOfText) {
            job.appendEndOfText();
        }
        if (followLinks) {
            job.followLinks();
        }
        if (threads != null) {
            if (threads < 1) {
                throw new ParameterException(spec.commandLine(),
                        "--threads: found " + threads + ", expected at least 1");
            }
            job.threads(threads);
        }
        TokenizeSummary summary;
        try (ProgressBar bar = report.progressBar("tokenize", "B")) {
            summary = job.progress(bar::update)
                    .checksumProgress((done, total) -> bar.update("checksum", done, total)).run();
        }
        report.print(report.isJson() ? fields(summary) : text(summary));
        return ExitCode.SUCCESS;
    }

    private Tokenizer tokenizer() throws IOException {
        boolean isJson = vocabulary != null && vocabulary.getFileName().toString().endsWith(".json");
        if (endOfText != null && !isJson) {
            throw new ParameterException(spec.commandLine(), "--end-of-text needs --vocabulary with a tokenizer.json");
        }
        try {
            if (isJson) {
                return endOfText == null ? Tokenizer.of(vocabulary) : Tokenizer.of(vocabulary, endOfText);
            }
            return vocabulary == null ? Tokenizer.of(encoding) : Tokenizer.of(encoding, vocabulary);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), (isJson ? "--vocabulary: " : "--encoding: ")
                    + e.getMessage(), e);
        }
    }

    static Map<String, Object> fields(TokenizeSummary summary) {
        return Json.members("store", summary.store().toString(), "encoding", summary.encoding(),
                "dtype", summary.dtype().toString(), "files", summary.files(), "skipped_links", summary.skippedLinks(),
                "documents", summary.documents(), "filtered_documents", summary.filteredDocuments(),
                "tokens", summary.tokens(), "text_bytes", summary.textBytes(),
                "seconds", summary.nanos() / 1e9, "tokens_per_second", summary.tokensPerSecond(),
                "text_bytes_per_second", summary.textBytesPerSecond());
    }

    static String text(TokenizeSummary summary) {
        return String.format(Locale.ROOT, "%s: %s of %s in %s (%s) from %s, %s%s%s%n%s in %.2f s: %s, %s%n",
                summary.store(), NumberText.count(summary.tokens(), "token"), summary.dtype(),
                NumberText.count(summary.documents(), "document"), summary.encoding(),
                NumberText.count(summary.files(), "file"), NumberText.of(summary.textBytes(), "B"),
                summary.skippedLinks() == 0 ? "" : " (" + NumberText.count(summary.skippedLinks(), "link")
                        + " skipped; --follow-links follows them)",
                summary.filteredDocuments() == 0 ? "" : ", without "
                        + NumberText.count(summary.filteredDocuments(), "document") + " filtered by length",
                "tokenized", summary.nanos() / 1e9, NumberText.of(summary.tokensPerSecond(), "tokens/s"),
                NumberText.of(summary.textBytesPerSecond(), "B/s"));
    }
}
