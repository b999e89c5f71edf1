// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.codec.DecodeLimit;
import io.penstock.codec.DecodeLimitException;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Tokenizes text files into a token store in Megatron's format.
 *
 * <p>A text file is one document; so is each line of a JSON-lines file ({@code .jsonl}, {@code .ndjson},
 * {@code .json}), except blank lines. The suffixes {@code .gz} and {@code .zst} mean compressed files. A folder's files
 * are read in the order of their paths' bytes, without hidden ones. Text must be UTF-8; a byte order mark at the start
 * of a file is skipped. An empty document is kept: it has no tokens, or only the end-of-text token.
 *
 * <p>The store does not depend on the number of threads. It appears complete, or not at all.
 *
 * {@snippet :
 * TokenizeSummary summary = new TokenizeJob(Tokenizer.of("gpt2"), List.of(Path.of("corpus")), Path.of("out"))
 *         .appendEndOfText()
 *         .run();
 * }
 */
public final class TokenizeJob {

    private final Tokenizer tokenizer;
    private final List<Path> inputs;
    private final Path output;
    private String textField = "text";
    private boolean appendEndOfText;
    private IfExists ifExists = IfExists.FAIL;
    private boolean followLinks;
    private DecodeLimit decodeLimit = DecodeLimit.TEXT;
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
        this.tokenizer = Objects.requireNonNull(tokenizer);
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
     * Sets the number of encoding threads.
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
     * @throws CorpusException if a file is invalid
     * @throws DecodeLimitException if a compressed file expands beyond the limit
     * @throws java.nio.file.FileSystemException if an input, or an entry of a folder, is a FIFO, socket or device
     * @throws IOException if a file cannot be read, or the store cannot be written
     * @throws InterruptedException if the calling thread is interrupted; nothing is left behind
     */
    public TokenizeSummary run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        CorpusListing listing = CorpusListing.of(inputs, followLinks);
        List<CorpusFile> files = listing.files();
        long totalBytes = files.stream().mapToLong(CorpusFile::storedBytes).sum();
        DType dtype = MegatronWriter.dtypeFor(tokenizer.vocabularySize());
        Totals totals = new Totals();
        try (CorpusReader reader = new CorpusReader(files, decodeLimit);
                MegatronWriter writer = MegatronWriter.create(output, dtype,
                        ifExists)) {
            try (MegatronPart part = writer.part()) {
                new ParallelEncoder(tokenizer, textField, appendEndOfText, threads)
                        .run(reader, new PartOutput(part), (chunk, storedBytesRead) -> {
                            totals.add(chunk);
                            progress.update(storedBytesRead, totalBytes);
                        });
            }
            writer.commit(checksumProgress);
        } catch (ClosedByInterruptException e) {
            Thread.interrupted();
            throw (InterruptedException) new InterruptedException("tokenizing was interrupted").initCause(e);
        }
        return new TokenizeSummary(tokenizer.name(), dtype, files.size(), listing.skippedLinks(),
                totals.documents, totals.tokens, totals.textBytes, System.nanoTime() - start);
    }

    private static final class Totals {
        private long documents;
        private long tokens;
        private long textBytes;

        void add(EncodedChunk chunk) {
            documents += chunk.documentCount();
            tokens += chunk.tokenCount();
            textBytes += chunk.textBytes();
        }
    }

    private record PartOutput(MegatronPart part) implements EncodedChunk.Output {
        @Override
        public void append(int[] tokens, int from, int count) throws IOException {
            part.append(tokens, from, count);
        }

        @Override
        public void endDocument() throws IOException {
            part.endDocument();
        }
    }
}
