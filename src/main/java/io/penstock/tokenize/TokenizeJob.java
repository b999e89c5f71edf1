package io.penstock.tokenize;

import io.penstock.codec.DecodeLimit;
import io.penstock.codec.DecodeLimitException;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.io.NotRegularFileException;
import io.penstock.memory.DType;
import io.penstock.store.Progress;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Turns text files into a token store in Megatron's format.
 *
 * <p>A text file is one document; a line of a JSON-lines file ({@code .jsonl}, {@code .ndjson}, {@code .json}) is one,
 * blank lines apart. A name that ends in {@code .gz} or {@code .zst} says how the file is packed. The files of a folder
 * are taken in the order of their paths' bytes, hidden ones left out. Text must be UTF-8; a byte order mark at the
 * start of a file is left out. An empty document is kept: it has no tokens, or the end-of-text token alone.
 *
 * <p>The store is the same for any number of threads. It appears whole, or not at all.
 *
 * {@snippet :
 * TokenizeSummary summary = new TokenizeJob(Tokenizer.of("gpt2"), List.of(Path.of("corpus")), Path.of("out"))
 *         .appendEndOfText(true)
 *         .run();
 * }
 */
public final class TokenizeJob {

    private final Tokenizer tokenizer;
    private final List<Path> inputs;
    private final Path output;
    private String textField = "text";
    private boolean appendEndOfText;
    private boolean overwrite;
    private boolean followLinks;
    private DecodeLimit decodeLimit = DecodeLimit.TEXT;
    private int threads = Runtime.getRuntime().availableProcessors();
    private Progress progress = Progress.NONE;
    private Progress checksumProgress = Progress.NONE;

    /**
     * A job with the defaults: field {@code text}, no end-of-text token, a thread a processor, refusing to overwrite.
     *
     * @param tokenizer what encodes the text
     * @param inputs files and folders, in the order in which the store has their documents
     * @param output the store's path without a suffix: {@code output.bin}, {@code output.idx} and
     *     {@code output.sha256} are written
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
     * Sets the field of a JSON line that holds the document.
     *
     * @param name the field's name
     * @return this job
     */
    public TokenizeJob textField(String name) {
        textField = Objects.requireNonNull(name);
        return this;
    }

    /**
     * Sets whether the end-of-text token is appended to each document.
     *
     * @param append whether to
     * @return this job
     */
    public TokenizeJob appendEndOfText(boolean append) {
        appendEndOfText = append;
        return this;
    }

    /**
     * Sets whether a store that is there already is replaced.
     *
     * @param replace whether to; if not, the job fails before it starts
     * @return this job
     */
    public TokenizeJob overwrite(boolean replace) {
        overwrite = replace;
        return this;
    }

    /**
     * Sets whether links in the folders are followed wherever they lead. If not, as it is by default, a link is taken
     * for the file that it leads to if that is below the given folder too; the others, also those to folders, are left
     * out and counted.
     *
     * @param follow whether to
     * @return this job
     */
    public TokenizeJob followLinks(boolean follow) {
        followLinks = follow;
        return this;
    }

    /**
     * Sets what each packed file may unpack to; {@link DecodeLimit#TEXT} by default.
     *
     * @param limit the limit
     * @return this job
     */
    public TokenizeJob decodeLimit(DecodeLimit limit) {
        decodeLimit = Objects.requireNonNull(limit);
        return this;
    }

    /**
     * Sets how many threads encode.
     *
     * @param count at least 1
     * @return this job
     * @throws IllegalArgumentException if it is less
     */
    public TokenizeJob threads(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("threads: found " + count + ", expected at least 1");
        }
        threads = count;
        return this;
    }

    /**
     * Sets who hears how far the job has come.
     *
     * @param listener told the bytes that are read, as they lie on disk
     * @return this job
     */
    public TokenizeJob progress(Progress listener) {
        progress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Sets who hears how far the pass over the written store has come, which follows when all is read.
     *
     * @param listener told the bytes that are checksummed
     * @return this job
     */
    public TokenizeJob checksumProgress(Progress listener) {
        checksumProgress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Does the job.
     *
     * @return what was written
     * @throws CorpusException if a file cannot be read as what it should be
     * @throws DecodeLimitException if a packed file unpacks to more than the limit
     * @throws NotRegularFileException if there is a FIFO, socket or device among the inputs, or in a folder
     * @throws IOException if a file cannot be read, or the store not be written
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
                MegatronWriter writer = MegatronWriter.create(output, dtype, overwrite)) {
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
