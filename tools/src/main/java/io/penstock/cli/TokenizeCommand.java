// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.chat.AnswerTokenizer;
import io.penstock.chat.ChatTokenizer;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.json.Json;
import io.penstock.remote.RemoteFiles;
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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "tokenize",
        description = "Tokenizes text into a token store.",
        footer = {"", "Example: penstock tokenize corpus/ -o out --append-eot",
            "", "In a .jsonl, .ndjson or .json file each line is an object with one document; blank lines are skipped."
                + " So is each row of a table (.parquet, .arrow, .feather). Every other file is text and one document."
                + " Lines and texts may be compressed (.gz, .zst). A folder's files are read in the order of their"
                + " names, without hidden files.",
            "", "A link in a folder is followed if it leads to a file in the same folder; other links are skipped and"
                + " counted.",
            "", "Text must be UTF-8. A byte order mark at the start of a file is removed. Empty documents are kept.",
            "", "The store is in Megatron's format: STORE.bin and STORE.idx. It appears complete or not at all.",
            "", "A STORE in a bucket, s3://BUCKET/KEY, is written on the local disk and uploaded at the end.",
            "", "Conversations: penstock tokenize --chat chats.jsonl --template model/ -o chats. The tokenizer is the"
                + " model's, if its folder has a tokenizer.json. The store says which tokens are trained on; batches of"
                + " it have no label for the others.",
            "", "On several machines: each runs the same command with its own --shard and writes a part,"
                + " STORE-00003-of-00016. Then 'penstock manifest STORE-*.idx -o STORE' makes the parts one store."})
final class TokenizeCommand implements Callable<Integer> {

    /** What the error of a record without text says of one that looks like a conversation. */
    private static final Pattern CONVERSATION = Pattern.compile("no field '[^']*', found \\[.*"
            + "'(messages|conversations|prompt|chosen|instruction)'");

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "FILE|DIR", description = "Files and folders to read, in this order.")
    private List<Path> inputs;

    @Option(names = {"-o", "--output"}, required = true, paramLabel = "STORE",
            description = "Store to write, without a suffix; also s3://BUCKET/KEY.")
    @SuppressWarnings("NullAway.Init")
    private String output;

    @Mixin
    private TokenizerOptions tokenizer;

    @Option(names = "--append-eot", description = "Append the end-of-text token to each document.")
    private boolean appendEndOfText;

    @Option(names = "--field", paramLabel = "NAME",
            description = "Field of a JSON line, or column of a table, with the document; default:"
                    + " ${DEFAULT-VALUE}.")
    private String field = "text";

    @Option(names = "--chat",
            description = "Each JSON line, or row, is a conversation: tokenize it by --template, and mark which tokens"
                    + " are trained on.")
    private boolean chat;

    @Option(names = "--preferences",
            description = "With --chat: tokenize all answers of a line, for training on preferences: chosen and"
                    + " rejected, completions with scores, or one answer with a label.")
    private boolean preferences;

    @ArgGroup(exclusive = false, validate = false, heading = "%nConversations:%n")
    private ChatOptions chats = new ChatOptions();

    @Option(names = "--max-length", paramLabel = "N", description = "With --chat: " + ChatOptions.MAX_LENGTH)
    private long maxLength = Long.MAX_VALUE;

    @Option(names = "--min-tokens", paramLabel = "N", description = "Leave out documents of fewer tokens.")
    private long minTokens;

    @Option(names = "--max-tokens", paramLabel = "N", description = "Leave out documents of more tokens.")
    private long maxTokens = Long.MAX_VALUE;

    @Option(names = "--max-total-tokens", paramLabel = "N",
            description = "End before the first document that would make the store longer than N tokens.")
    private long maxTotalTokens = Long.MAX_VALUE;

    @Option(names = "--shard", paramLabel = "I/N",
            description = "Tokenize only the I-th of N equal shares of the input, counted from 0, as a part for"
                    + " 'penstock manifest'.")
    private @Nullable CorpusShard shard;

    @Option(names = "--threads", paramLabel = "N", description = "Threads; default: one per processor.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--follow-links",
            description = "Follow every link in a folder; default: only links to files in the same folder.")
    private boolean followLinks;

    @Mixin
    private DecodeOptions decode;

    @Mixin
    private RemoteOptions remote;

    @Option(names = "--force", description = "Replace an existing store.")
    private boolean force;

    @Override
    public Integer call() throws IOException, InterruptedException {
        UsageException.requireAtLeast(1, "--threads", threads);
        IfExists ifExists = force ? IfExists.REPLACE : IfExists.FAIL;
        // Shards are separate uploads. The job itself adds a shard's number to the path.
        String name = shard != null && RemoteFiles.isRemote(output) ? shard.nameOf(output) : output;
        try (Target target = Target.of(name, remote, ifExists).inFolder()) {
            target.requireAbsent(".bin", ".idx");
            Path path = name.equals(output) ? target.path()
                    : target.path().resolveSibling(output.substring(output.lastIndexOf('/') + 1));
            return write(target, path, ifExists);
        }
    }

    private int write(Target target, Path path, IfExists ifExists) throws IOException, InterruptedException {
        if (chat != chats.isGiven()) {
            throw new UsageException("--chat and --template: found one of them, expected both or none");
        }
        if (preferences && (!chat || appendEndOfText)) {
            throw new UsageException("--preferences: found without --chat or with --append-eot, expected --chat");
        }
        Tokenizer encoder = chats.tokenizer(tokenizer);
        TokenizeJob job = new TokenizeJob(encoder, inputs, path).threads(threads)
                .textField(field).ifExists(ifExists)
                .decodeLimit(decode.limit(DecodeLimit.TEXT));
        UsageException.valid("--min-tokens, --max-tokens, --max-total-tokens: ",
                () -> job.documentTokens(minTokens, maxTokens).maxTotalTokens(maxTotalTokens));
        if (shard != null) {
            job.shard(shard);
        }
        if (appendEndOfText) {
            job.appendEndOfText();
        }
        if (followLinks) {
            job.followLinks();
        }
        if (chat) {
            ChatTokenizer conversations = chats.open(encoder, maxLength);
            job.lines(preferences ? AnswerTokenizer.of(conversations) : conversations);
            List<String> ordinary = chats.ordinaryWords(encoder);
            if (!ordinary.isEmpty()) {
                report.note("the vocabulary " + encoder.name() + " has no special token "
                        + String.join(", ", ordinary) + " of the template: ordinary text stands for it");
            }
        }
        TokenizeSummary summary;
        try (ProgressBar bar = report.progressBar("tokenize", "B")) {
            summary = job.progress(bar::update)
                    .checksumProgress((done, total) -> bar.update("checksum", done, total)).run();
            target.publish(bar);
        } catch (MalformedStoreException e) {
            String message = String.valueOf(e.getMessage());
            throw !chat && CONVERSATION.matcher(message).find() ? new BadInputException(message
                    + "; for conversations: --chat --template TEMPLATE", e) : e;
        }
        String store = target.shown(summary.store());
        report.print(report.isJson() ? fields(summary, store) : text(summary, store));
        return ExitCode.SUCCESS;
    }

    static Map<String, @Nullable Object> fields(TokenizeSummary summary, String store) {
        return Json.members("store", store, "encoding", summary.encoding(),
                "dtype", summary.dtype().toString(), "files", summary.files(), "skipped_links", summary.skippedLinks(),
                "documents", summary.documents(), "filtered_documents", summary.filteredDocuments(),
                "left_out", summary.leftOut(),
                "tokens", summary.tokens(), "text_bytes", summary.textBytes(),
                "seconds", summary.nanos() / 1e9, "tokens_per_second", summary.tokensPerSecond(),
                "text_bytes_per_second", summary.textBytesPerSecond());
    }

    static String text(TokenizeSummary summary, String store) {
        return String.format(Locale.ROOT, "%s: %s of %s in %s (%s) from %s, %s%s%s%n%s in %.2f s: %s, %s%n",
                store, NumberText.count(summary.tokens(), "token"), summary.dtype(),
                NumberText.count(summary.documents(), "document"), summary.encoding(),
                NumberText.count(summary.files(), "file"), NumberText.of(summary.textBytes(), "B"),
                summary.skippedLinks() == 0 ? "" : " (" + NumberText.count(summary.skippedLinks(), "link")
                        + " skipped; --follow-links follows them)",
                (summary.filteredDocuments() == 0 ? "" : ", without "
                        + NumberText.count(summary.filteredDocuments(), "document") + " filtered by length")
                        + (summary.leftOut() == 0 ? "" : "; " + NumberText.count(summary.leftOut(), "line")
                        + (summary.leftOut() == 1 ? " was" : " were")
                        + " left out: too long, or nothing to train on"),
                "tokenized", summary.nanos() / 1e9, NumberText.of(summary.tokensPerSecond(), "tokens/s"),
                NumberText.of(summary.textBytesPerSecond(), "B/s"));
    }
}
