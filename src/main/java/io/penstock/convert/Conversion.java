package io.penstock.convert;

import io.penstock.decode.Decoder;
import io.penstock.memory.DType;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Makes of a store one of another format. What is written appears whole, or not at all; nothing of it is held on the
 * heap but the piece at hand. What the format has no place for is named in the summary, and what does not fit is
 * refused: no value is changed.
 *
 * <table>
 * <caption>What becomes of what</caption>
 * <tr><th></th><th>tokens</th><th>tensors</th><th>records</th></tr>
 * <tr><th>Megatron</th><td>documents</td><td>of integers: a row is a document, of one dimension it is one</td>
 *     <td>one column of lists of integers: a record is a document, without a value an empty one</td></tr>
 * <tr><th>npy</th><td>one run</td><td>one</td><td>one column of one shape, records first</td></tr>
 * <tr><th>safetensors</th><td>{@code tokens}, {@code document_starts}</td><td>all, or those chosen</td>
 *     <td>columns of one shape, records first</td></tr>
 * <tr><th>WebDataset</th><td></td><td></td><td>a record is a sample, a column a suffix</td></tr>
 * </table>
 *
 * {@snippet :
 * try (Store store = Store.open(Path.of("dataset"))) {
 *     ConversionSummary written = new Conversion(store, Path.of("corpus"), TargetFormat.MEGATRON)
 *             .fields(List.of("input_ids")).tokenDType(DType.U16).run();
 * }
 * }
 */
public final class Conversion {

    /** As the webdataset library's own writer has it. */
    private static final long DEFAULT_MAX_RECORDS = 100_000;
    private static final long DEFAULT_MAX_BYTES = 3_000_000_000L;

    private final Store source;
    private final Path target;
    private final TargetFormat format;
    private final List<String> lost = new ArrayList<>();
    private List<String> fields;
    private Map<String, Decoder> decoders = Map.of();
    private Map<String, String> suffixes = Map.of();
    private DType tokenDType;
    private boolean skipIncomplete;
    private boolean overwrite;
    private long maxRecords = DEFAULT_MAX_RECORDS;
    private long maxBytes = DEFAULT_MAX_BYTES;
    private Progress progress = Progress.NONE;
    private Progress checksumProgress = Progress.NONE;

    /**
     * A conversion with the defaults: all fields that the format can hold, refusing to overwrite.
     *
     * @param source what to read; must stay open
     * @param target the file to write, or Megatron's prefix; of a WebDataset of several shards with {@code {000000}}
     *     or {@code %06d} in its name where their number stands
     * @param format the format to write
     */
    public Conversion(Store source, Path target, TargetFormat format) {
        this.source = Objects.requireNonNull(source);
        this.target = Objects.requireNonNull(target);
        this.format = Objects.requireNonNull(format);
    }

    /**
     * Sets which tensors or columns are converted.
     *
     * @param names their names; null for all that the format can hold
     * @return this conversion
     */
    public Conversion fields(List<String> names) {
        fields = names == null ? null : List.copyOf(names);
        return this;
    }

    /**
     * Sets how columns of records are decoded.
     *
     * @param byColumn a decoder for each column that is to be decoded otherwise than by what it encodes
     * @return this conversion
     */
    public Conversion decoders(Map<String, Decoder> byColumn) {
        decoders = new LinkedHashMap<>(byColumn);
        return this;
    }

    /**
     * Sets the suffixes that columns have in a WebDataset, where they are not to follow from name and encoding.
     *
     * @param byColumn the suffix of a column, in lower case
     * @return this conversion
     */
    public Conversion suffixes(Map<String, String> byColumn) {
        suffixes = new LinkedHashMap<>(byColumn);
        return this;
    }

    /**
     * Sets the type that tokens are stored in, in Megatron's format. One that does not fit it is an error.
     *
     * @param dtype the type; null for the source's, or {@code i32} for {@code u32} and {@code i64} for {@code u64},
     *     which the format has not
     * @return this conversion
     */
    public Conversion tokenDType(DType dtype) {
        tokenDType = dtype;
        return this;
    }

    /**
     * Sets whether records that lack a value are left out, where the format has no place for that: of a tensor.
     *
     * @param skip whether to; if not, the first one is an error
     * @return this conversion
     */
    public Conversion skipIncomplete(boolean skip) {
        skipIncomplete = skip;
        return this;
    }

    /**
     * Sets whether what is there under the target's name is replaced.
     *
     * @param replace whether to; if not, the conversion fails before it starts
     * @return this conversion
     */
    public Conversion overwrite(boolean replace) {
        overwrite = replace;
        return this;
    }

    /**
     * Sets where a WebDataset goes on in its next shard.
     *
     * @param records the samples of a shard, at most; 100,000 unless told
     * @param bytes a shard that has so many gets no further sample; 3,000,000,000 unless told
     * @return this conversion
     * @throws IllegalArgumentException if one is less than 1
     */
    public Conversion shardsOf(long records, long bytes) {
        if (records < 1 || bytes < 1) {
            throw new IllegalArgumentException("shard limits: found " + records + " samples and " + bytes
                    + " bytes, expected at least 1 of each");
        }
        maxRecords = records;
        maxBytes = bytes;
        return this;
    }

    /**
     * Whether the target's name has a place for a number, so that a WebDataset may be several shards.
     *
     * @return true if {@link #shardsOf} has a meaning
     */
    public boolean isNumbered() {
        return format == TargetFormat.WEBDATASET && ShardPattern.of(target).isNumbered();
    }

    /**
     * Sets who hears how far the conversion has come.
     *
     * @param listener told bytes of tokens or tensors, or records times columns, that are read
     * @return this conversion
     */
    public Conversion progress(Progress listener) {
        progress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Sets who hears how far the pass over the written store has come, which Megatron's format has.
     *
     * @param listener told the bytes that are checksummed
     * @return this conversion
     */
    public Conversion checksumProgress(Progress listener) {
        checksumProgress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Does it.
     *
     * @return what was written
     * @throws ConversionException if the store cannot become that, or not as a whole
     * @throws IOException if the store cannot be read, or the target not be written, or it is there and not to be
     *     overwritten
     * @throws InterruptedException if the calling thread is interrupted; nothing is left behind
     */
    public ConversionSummary run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        lost.clear();
        if (!TargetFormat.of(source).contains(format)) {
            throw new ConversionException("cannot convert the store to " + format + "; supported targets: "
                    + TargetFormat.of(source));
        }
        try {
            Outcome outcome = write();
            long bytes = 0;
            for (Path file : outcome.files()) {
                bytes += Files.size(file);
            }
            return new ConversionSummary(format, outcome.records(), outcome.files(), bytes, lost,
                    System.nanoTime() - start);
        } catch (IOException | UncheckedIOException e) {
            throw Interrupts.orFailure(e);
        }
    }

    private Outcome write() throws IOException {
        try (Reading reading = new Reading(progress)) {
            try {
                return switch (format) {
                    case MEGATRON -> MegatronTarget.write(this, reading);
                    case NPY, SAFETENSORS -> TensorTarget.write(this, reading);
                    case WEBDATASET -> WebDatasetTarget.write(this, (RecordStore) source, reading);
                };
            } catch (InternalError fault) {
                throw reading.explain(fault);
            }
        }
    }

    /** Notes what the source has and the result has not. */
    void lose(String what) {
        lost.add(what);
    }

    Store source() {
        return source;
    }

    Path target() {
        return target;
    }

    TargetFormat format() {
        return format;
    }

    List<String> fields() {
        return fields;
    }

    Decoder decoder(String column) {
        return decoders.get(column);
    }

    /** The columns that something was told of: they must be there. */
    List<String> told() {
        List<String> told = new ArrayList<>(decoders.keySet());
        told.addAll(suffixes.keySet());
        return told;
    }

    String suffix(String column) {
        return suffixes.get(column);
    }

    DType tokenDType() {
        return tokenDType;
    }

    boolean skipsIncomplete() {
        return skipIncomplete;
    }

    boolean overwrites() {
        return overwrite;
    }

    long maxRecords() {
        return maxRecords;
    }

    long maxBytes() {
        return maxBytes;
    }

    Progress checksumProgress() {
        return checksumProgress;
    }
}
