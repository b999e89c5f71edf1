// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.LimitException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.manifest.ManifestPart.PartNumber;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.format.manifest.PartWriter;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.internal.Sha256;
import io.penstock.io.DecodeLimit;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Tokenizes text files into a token store in Megatron's format.
 *
 * <p>A text file is one document; so is each line of a JSON-lines file ({@code .jsonl}, {@code .ndjson},
 * {@code .json}), except blank lines, and each row of a table ({@code .parquet}, {@code .arrow}, {@code .feather}),
 * whose columns are a line's members. The suffixes {@code .gz} and {@code .zst} mean compressed files. A folder's files
 * are read in the order of their paths' bytes, without hidden ones. Text must be UTF-8; a byte order mark at the start
 * of a file is skipped. An empty document is kept: it has no tokens, or only the end-of-text token.
 *
 * <p>The store does not depend on the number of threads. It appears complete, or not at all. Each thread holds a few
 * megabytes of text and tokens, however long the files are.
 *
 * {@snippet :
 * TokenizeSummary summary = new TokenizeJob(Tokenizer.of("gpt2"), List.of(Path.of("corpus")), Path.of("out"))
 *         .appendEndOfText()
 *         .run();
 * }
 */
public final class TokenizeJob {

    private final BytePairTokenizer tokenizer;
    private final List<Path> inputs;
    private final Path output;
    private String textField = "text";
    private boolean appendEndOfText;
    private IfExists ifExists = IfExists.FAIL;
    private boolean followLinks;
    private DecodeLimit decodeLimit = DecodeLimit.TEXT;
    private DocumentLimits limits = DocumentLimits.NONE;
    private @Nullable CorpusShard shard;
    private @Nullable LineEncoder lines;
    private int threads = Runtime.getRuntime().availableProcessors();
    private Progress progress = Progress.NONE;
    private Progress checksumProgress = Progress.NONE;

    /**
     * Creates a job with the defaults: field {@code text}, no end-of-text token, all processors,
     * {@link IfExists#FAIL}.
     *
     * @param tokenizer encodes the text
     * @param inputs files and folders, in the order of their documents in the store
     * @param output the store's path without suffix: the job writes {@code output.bin}, {@code output.idx} and
     *     {@code output.sha256}
     * @throws IllegalArgumentException if there are no inputs
     */
    public TokenizeJob(Tokenizer tokenizer, List<Path> inputs, Path output) {
        this.tokenizer = switch (tokenizer) {
            case BytePairTokenizer own -> own;
        };
        this.inputs = List.copyOf(inputs);
        this.output = Objects.requireNonNull(output);
        if (inputs.isEmpty()) {
            throw new IllegalArgumentException("inputs: found none, expected at least one file or folder");
        }
    }

    /**
     * Sets the JSON field that contains the document.
     *
     * @param name the field's name
     * @return this job
     */
    public TokenizeJob textField(String name) {
        textField = Objects.requireNonNull(name);
        return this;
    }

    /**
     * Appends the end-of-text token to each document.
     *
     * @return this job
     */
    public TokenizeJob appendEndOfText() {
        appendEndOfText = true;
        return this;
    }

    /**
     * Sets what to do if the store exists.
     *
     * @param choice {@link IfExists#FAIL}, the default, fails before starting
     * @return this job
     */
    public TokenizeJob ifExists(IfExists choice) {
        ifExists = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Follows all links in folders. By default only links to files inside the given folder are followed; other links,
     * and all links to folders, are left out and counted.
     *
     * @return this job
     */
    public TokenizeJob followLinks() {
        followLinks = true;
        return this;
    }

    /**
     * Sets the limit on what each compressed file may expand to; {@link DecodeLimit#TEXT} by default.
     *
     * @param limit the limit
     * @return this job
     */
    public TokenizeJob decodeLimit(DecodeLimit limit) {
        decodeLimit = Objects.requireNonNull(limit);
        return this;
    }

    /**
     * Leaves out documents by their length. The end-of-text token that the job appends does not count.
     *
     * @param minTokens the shortest document to write, in tokens; at least 0
     * @param maxTokens the longest document to write, in tokens
     * @return this job
     * @throws IllegalArgumentException if the least is negative or above the most
     */
    public TokenizeJob documentTokens(long minTokens, long maxTokens) {
        limits = new DocumentLimits(minTokens, maxTokens, limits.totalTokens());
        return this;
    }

    /**
     * Sets how many tokens the store may have. The job ends before the first document that would exceed it, whatever
     * follows. With {@link #shard} it holds for each shard.
     *
     * @param most at least 1; end-of-text tokens count
     * @return this job
     * @throws IllegalArgumentException if it is less than 1
     */
    public TokenizeJob maxTotalTokens(long most) {
        limits = new DocumentLimits(limits.minTokens(), limits.maxTokens(), most);
        return this;
    }

    /**
     * Tokenizes one of several equal shares of the input, as a part of a manifest store:
     * {@code output-00003-of-00016} for shard 3 of 16. Which documents are in it follows from the names and sizes of
     * the files alone, so machines that make different shards need not talk to each other; the documents of all shards,
     * in order, are those of the input. Files of uncompressed JSON lines are cut at the ends of lines; other files are
     * in one shard as a whole.
     *
     * @param one the share
     * @return this job
     */
    public TokenizeJob shard(CorpusShard one) {
        shard = Objects.requireNonNull(one);
        return this;
    }

    /**
     * Makes documents of whole lines of JSON, such as conversations, in place of the texts in one field. Inputs must be
     * JSON lines or tables. The store holds the encoder's {@linkplain LineEncoder#content content}, of dtype {@code
     * i32}.
     *
     * @param encoder encodes a line
     * @return this job
     */
    public TokenizeJob lines(LineEncoder encoder) {
        lines = Objects.requireNonNull(encoder);
        return this;
    }

    /**
     * Sets the number of threads, the calling one included.
     *
     * @param count at least 1
     * @return this job
     * @throws IllegalArgumentException if it is less than 1
     */
    public TokenizeJob threads(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("threads: found " + count + ", expected at least 1");
        }
        threads = count;
        return this;
    }

    /**
     * Sets a listener for the job's progress.
     *
     * @param listener receives the bytes read from disk so far
     * @return this job
     */
    public TokenizeJob progress(Progress listener) {
        progress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Sets a listener for the checksum pass over the written store, which follows the last read.
     *
     * @param listener receives the bytes checksummed so far
     * @return this job
     */
    public TokenizeJob checksumProgress(Progress listener) {
        checksumProgress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Runs the job.
     *
     * @return what was written
     * @throws MalformedStoreException if a file is invalid
     * @throws LimitException if a compressed file expands beyond the limit
     * @throws java.nio.file.FileSystemException if an input, or an entry of a folder, is a FIFO, socket or device
     * @throws IOException if a file cannot be read, or the store cannot be written
     * @throws InterruptedException if the calling thread is interrupted; nothing is left behind
     */
    public TokenizeSummary run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        CorpusListing whole = CorpusListing.of(inputs, followLinks);
        CorpusShard one = shard;
        CorpusListing listing = one == null ? whole : whole.shard(one);
        TokenContent content = lines == null ? TokenContent.TOKENS : lines.content();
        if (appendEndOfText && content == TokenContent.ANSWERS) {
            throw new IllegalArgumentException("found answers with an end-of-text token behind them, expected none");
        }
        DType dtype = lines != null ? DType.I32 : MegatronWriter.dtypeFor(tokenizer.vocabularySize());
        Path store = one == null ? output
                : output.resolveSibling(one.nameOf(MegatronWriter.prefix(output).getFileName().toString()));
        DocumentWriter written;
        try {
            if (one == null) {
                try (MegatronWriter writer = MegatronWriter.create(store, dtype, ifExists);
                        MegatronPart part = writer.part()) {
                    writer.content(content);
                    written = encode(listing, part, dtype);
                    writer.commit(checksumProgress);
                }
            } else {
                TokenOrigin origin = new TokenOrigin(tokenizer.name(), tokenizer.vocabularySha256());
                PartNumber number = new PartNumber(one.index(), one.count(), digest(whole, one.count()));
                try (PartWriter writer = PartWriter.create(store, dtype, origin, number, ifExists)) {
                    writer.content(content);
                    written = encode(listing, writer.documents(), dtype);
                    writer.commit(checksumProgress);
                }
            }
        } catch (IOException e) {
            if (e instanceof ClosedByInterruptException || Thread.currentThread().isInterrupted()) {
                Thread.interrupted();
                throw (InterruptedException) new InterruptedException("tokenizing was interrupted").initCause(e);
            }
            throw e;
        }
        return new TokenizeSummary(store, tokenizer.name(), dtype, listing.files().size(), listing.skippedLinks(),
                written.documents(), written.filtered(), written.leftOut(), written.tokens(), written.textBytes(),
                System.nanoTime() - start);
    }

    private DocumentWriter encode(CorpusListing listing, MegatronPart part, DType dtype)
            throws IOException, InterruptedException {
        int endOfText = appendedToken();
        long totalBytes = listing.storedBytes();
        DocumentWriter written = new DocumentWriter(part, limits, appendEndOfText ? 1 : 0);
        try (CorpusReader reader = new CorpusReader(listing.files(), decodeLimit)) {
            new ParallelEncoder(reader, () -> new EncodedChunk(tokenizer, dtype, textField, endOfText, lines), written,
                    threads, storedBytes -> progress.update(storedBytes, totalBytes)).run();
        }
        return written;
    }

    /** The token that is appended to each document, or -1. */
    private int appendedToken() {
        return appendEndOfText ? tokenizer.endOfText() : -1;
    }

    /** A digest of what all shards must have in common, besides the tokenizer. */
    private String digest(CorpusListing whole, int shards) {
        MessageDigest sha256 = Sha256.digest();
        sha256.update((shards + " " + textField + "\0" + appendedToken() + " " + limits
                + (lines == null ? "" : "\0" + lines.fingerprint())).getBytes(StandardCharsets.UTF_8));
        whole.addTo(sha256);
        return Sha256.hex(sha256);
    }
}
