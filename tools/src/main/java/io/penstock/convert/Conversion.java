// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.decode.Decoder;
import io.penstock.error.PenstockException;
import io.penstock.loader.LoaderSettings;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.store.Store;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Converts a store to another format. The output appears complete, or not at all; only the current piece of data is
 * held on the heap. The summary names what the format cannot represent. Values are never changed: one that does not
 * fit is an error.
 *
 * <table>
 * <caption>What each kind of store becomes</caption>
 * <tr><th></th><th>tokens</th><th>tensors</th><th>records</th></tr>
 * <tr><th>Megatron</th><td>documents</td><td>integers: a matrix row is a document, a vector is one document</td>
 *     <td>one column of integer lists: each record is a document, empty without a value</td></tr>
 * <tr><th>npy</th><td>one array</td><td>one</td><td>one column of one shape, records first</td></tr>
 * <tr><th>safetensors</th><td>{@code tokens}, {@code document_starts}</td><td>all, or selected ones</td>
 *     <td>columns of one shape, records first</td></tr>
 * <tr><th>WebDataset</th><td></td><td></td><td>a record is a sample, a column a suffix</td></tr>
 * </table>
 *
 * {@snippet :
 * try (Store store = Store.open(Path.of("dataset"))) {
 *     ConversionSummary written = new Conversion(store, Path.of("corpus"), "megatron")
 *             .fields(List.of("input_ids")).tokenDType(DType.U16).run();
 * }
 * }
 */
public final class Conversion {

    /** The default of the webdataset library's own writer. */
    private static final long DEFAULT_MAX_RECORDS = 100_000;
    private static final long DEFAULT_MAX_BYTES = 3_000_000_000L;

    final Store source;
    final Path target;
    final TargetFormat format;
    private final List<String> lost = new ArrayList<>();
    @Nullable List<String> fields;
    private Map<String, Decoder> decoders = Map.of();
    private Map<String, String> suffixes = Map.of();
    @Nullable DType tokenDType;
    boolean skipIncomplete;
    private AugmentedCopies.@Nullable Setting copies;
    IfExists ifExists = IfExists.FAIL;
    long maxRecords = DEFAULT_MAX_RECORDS;
    long maxBytes = DEFAULT_MAX_BYTES;
    private Progress progress = Progress.NONE;
    Progress checksumProgress = Progress.NONE;

    /**
     * Creates a conversion with the defaults: all fields that the format can hold, and {@link IfExists#FAIL}.
     *
     * @param source the store to read; must stay open
     * @param target the file to write, or Megatron's prefix; for a WebDataset of several shards, a name with
     *     {@code {000000}} or {@code %06d} in place of their number
     * @param format the target format's name, such as {@code megatron}; {@link TargetFormat#of(Store)} has those that
     *     can hold something from the store
     * @throws IllegalArgumentException if no such format can be written; lists those that can
     */
    public Conversion(Store source, Path target, String format) {
        this.source = Objects.requireNonNull(source);
        this.target = Objects.requireNonNull(target);
        this.format = TargetFormat.of(format);
    }

    /**
     * Begins a conversion by your own code, such as an encoder that makes latents or features of each batch: in
     * parallel, and resumable.
     *
     * {@snippet :
     * Conversion.map(images, Path.of("copies"), (batch, out) -> out.arrays("image", batch.tensor("image")))
     *         .batchSize(64).version("copy-1").run();
     * }
     *
     * @param samples what is read; must stay open
     * @param folder where the shards go, WebDataset tars; made if it does not exist
     * @param code called with each batch
     * @return the conversion, to be set up and run
     */
    public static MappedConversion map(Dataset samples, Path folder, MappedConversion.BatchCode code) {
        return new MappedConversion(samples, folder, code);
    }

    /**
     * Selects the tensors or columns to convert.
     *
     * @param names their names; null for all that the format can hold
     * @return this conversion
     */
    public Conversion fields(@Nullable List<String> names) {
        fields = names == null ? null : List.copyOf(names);
        return this;
    }

    /**
     * Sets how record columns are decoded.
     *
     * @param byColumn a decoder for each column whose encoding does not determine it
     * @return this conversion
     */
    public Conversion decoders(Map<String, Decoder> byColumn) {
        decoders = new LinkedHashMap<>(byColumn);
        return this;
    }

    /**
     * Sets the suffixes of columns in a WebDataset. By default they follow from name and encoding.
     *
     * @param byColumn suffixes by column, in lower case
     * @return this conversion
     */
    public Conversion suffixes(Map<String, String> byColumn) {
        suffixes = new LinkedHashMap<>(byColumn);
        return this;
    }

    /**
     * Sets the dtype of tokens in Megatron's format. A token out of its range is an error.
     *
     * @param dtype the dtype; null for the source's, or {@code i32} for {@code u32} and {@code i64} for {@code u64},
     *     which the format lacks
     * @return this conversion
     */
    public Conversion tokenDType(@Nullable DType dtype) {
        tokenDType = dtype;
        return this;
    }

    /**
     * Leaves out records that lack a value. By default, such a record becomes an empty document, or a sample without
     * that member; a tensor cannot represent it, so the conversion fails.
     *
     * @return this conversion
     */
    public Conversion skipIncomplete() {
        skipIncomplete = true;
        return this;
    }

    /**
     * Replaces images by augmented copies, so that a loader need not augment them again: in npy, safetensors or
     * WebDataset. Copy k of a sample has the bytes that a loader with this seed and the store's order gives in epoch k.
     * A tensor has copy 0 of all samples, then copy 1 and so on; other fields repeat. A WebDataset's key is the
     * sample's, a dash and the copy's number; its images are {@code .npy}.
     *
     * @param augment the steps; images need one size, by a decoder if they are files
     * @param images the fields to augment alike, such as an image and its mask; empty for the only field of images
     * @param count the copies of each sample
     * @param seed the seed of the steps' random numbers
     * @return this conversion
     * @throws IllegalArgumentException if the count is below 1
     */
    public Conversion augmented(Augment augment, List<String> images, int count, long seed) {
        if (count < 1) {
            throw new IllegalArgumentException("found " + count + " copies, expected at least 1");
        }
        copies = new AugmentedCopies.Setting(augment, List.copyOf(images), count, seed,
                LoaderSettings.defaultWorkers());
        return this;
    }

    /**
     * Sets what to do if the target exists.
     *
     * @param choice {@link IfExists#FAIL}, the default, fails before starting
     * @return this conversion
     */
    public Conversion ifExists(IfExists choice) {
        ifExists = Objects.requireNonNull(choice);
        return this;
    }

    /**
     * Sets when a WebDataset starts its next shard.
     *
     * @param records maximum number of samples per shard; 100,000 by default
     * @param bytes a shard of at least this size gets no further sample; 3,000,000,000 by default
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
     * {@return whether the target's name has a place for a number, so that a WebDataset can have several shards and
     * {@link #shardsOf} applies}
     */
    public boolean isNumbered() {
        return format.writer() instanceof StoreWriter.OfSamples samples && samples.isNumbered(target);
    }

    /**
     * Sets a listener for the conversion's progress.
     *
     * @param listener receives the bytes of tokens or tensors, or records times columns, read so far
     * @return this conversion
     */
    public Conversion progress(Progress listener) {
        progress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Sets a listener for the checksum pass over the written store, which Megatron's format has.
     *
     * @param listener receives the bytes checksummed so far
     * @return this conversion
     */
    public Conversion checksumProgress(Progress listener) {
        checksumProgress = Objects.requireNonNull(listener);
        return this;
    }

    /**
     * Runs the conversion.
     *
     * @return what was written
     * @throws ConversionException if the format cannot hold the store, or all of it
     * @throws IOException if the store cannot be read, the target cannot be written, or it exists and must not be
     *     replaced
     * @throws InterruptedException if the calling thread is interrupted; nothing is left behind
     */
    public ConversionSummary run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        lost.clear();
        if (!format.canHold(source)) {
            throw new ConversionException("cannot convert the store to " + format + "; supported targets: "
                    + TargetFormat.of(source));
        }
        try {
            Outcome outcome = write();
            long bytes = 0;
            for (Path file : outcome.files()) {
                bytes += Files.size(file);
            }
            return new ConversionSummary(format.name(), outcome.records(), outcome.files(), bytes, lost,
                    System.nanoTime() - start);
        } catch (IOException | UncheckedIOException | PenstockException e) {
            throw Interrupts.orFailure(e);
        }
    }

    private Outcome write() throws IOException {
        try (Reading reading = new Reading(progress)) {
            try {
                if (copies != null) {
                    return write(new AugmentedCopies(this, copies), reading);
                }
                return switch (format.writer()) {
                    case StoreWriter.OfDocuments documents -> DocumentTarget.write(documents, this, reading);
                    case StoreWriter.OfTensors tensors -> TensorTarget.write(tensors, this, reading);
                    case StoreWriter.OfSamples samples -> SampleTarget.write(samples, this, reading, Optional.empty());
                };
            } catch (InternalError fault) {
                throw reading.explain(fault);
            }
        }
    }

    private Outcome write(AugmentedCopies all, Reading reading) throws IOException {
        return switch (format.writer()) {
            case StoreWriter.OfTensors tensors -> all.writeTensors(tensors, reading);
            case StoreWriter.OfSamples samples -> SampleTarget.write(samples, this, reading, Optional.of(all));
            case StoreWriter.OfDocuments _ -> throw new ConversionException(format
                    + " holds tokens, expected a format of tensors or samples for augmented images");
        };
    }

    /** Records what the result cannot hold. */
    void lose(String what) {
        lost.add(what);
    }

    void loseIncomplete(long records) {
        if (records > 0) {
            lost.add(records + " records that lack a value");
        }
    }

    void lose(String kind, Collection<String> names) {
        if (!names.isEmpty()) {
            lost.add(kind + ": " + String.join(", ", names));
        }
    }

    @Nullable Decoder decoder(String column) {
        return decoders.get(column);
    }

    /** Returns the columns with a decoder or suffix, which must exist. */
    List<String> configured() {
        List<String> fields = new ArrayList<>(decoders.keySet());
        fields.addAll(suffixes.keySet());
        return fields;
    }

    @Nullable String suffix(String column) {
        return suffixes.get(column);
    }
}
