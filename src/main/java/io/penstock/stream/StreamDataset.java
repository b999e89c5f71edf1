// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.internal.Leak;
import io.penstock.internal.Sha256;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A stream as a dataset: its records are samples, in the order in which they come or shuffled within windows. A
 * {@link io.penstock.loader.DataLoader} over it has the same workers, collators, devices and diagnosis as over a store.
 *
 * {@snippet id=Streams :
 * try (StreamDataset windows = StreamDataset.builder(new TokenWindowSource(documents, 1025))
 *         .field("tokens", DType.U16, 1025).shuffle(42, 8192).open();
 *         DataLoader loader = DataLoader.builder(windows).collator(CausalLm.narrow()).batchSize(32).open()) {
 *     train(loader);
 * }
 * }
 *
 * <p><b>Order.</b> The partitions are read by turns, one record each; one that has none yet is waited for, one that has
 * ended is left out. So the order depends on the records alone, unless it is {@linkplain Builder#live live}. A window
 * is shuffled by a permutation that the seed and the window's place decide. {@code docs/spec/streams.md} specifies
 * both.
 *
 * <p><b>State.</b> {@link io.penstock.loader.DataLoader#state} has, beside the position, a cursor for each partition,
 * and a run that resumes from it reads at most one window again. Workers, batch size and ranks may differ. Save it with
 * the weights; nothing is committed anywhere else.
 *
 * <p><b>Epochs.</b> A stream has one epoch without end, or epochs of {@link Builder#epochRecords}. If the source ends,
 * so does the loader: {@link io.penstock.loader.DataLoader#hasNext} waits until that is known. The last batch may be
 * smaller, and if the ranks do not divide what is left, the {@link io.penstock.sampling.TailPolicy} applies.
 *
 * <p><b>Threads and memory.</b> One thread reads ahead of the workers, from when the loader is opened: about two
 * windows and the batches in flight. One loader at a time uses the dataset. Close the loader first.
 */
public sealed class StreamDataset implements Dataset, AutoCloseable permits PackedStream {

    /**
     * How a stream does: how far it is behind its source, and why readers have waited for it.
     *
     * @param partitions what is known of those that are read here, by name, as of the last second; empty before a
     *     loader is open
     * @param rereadRecords records that a run that resumed has read again
     * @param emptyNanos how long readers have waited for a source that had nothing, of all threads together
     * @param slowNanos how long they have waited for a source that had more than was read
     */
    public record Status(Map<String, PartitionReader.Lag> partitions, long rereadRecords, long emptyNanos,
            long slowNanos) { }

    /** Values of more than {@code mostBytes} are cut. */
    private record Field(TensorSpec spec, @Nullable Decoder decoder, long maxLength, long mostBytes) {

        Field(TensorSpec spec, @Nullable Decoder decoder, long maxLength) {
            this(spec, decoder, maxLength, Long.MAX_VALUE);
        }
    }

    /** Characters of all names of partitions that a fingerprint has. */
    private static final int MOST_NAMES = 64;

    private final List<Field> fields;
    private final List<TensorSpec> specs;
    /** Of each record; empty if it is one. */
    private final List<String> parts;
    final StreamBuffer buffer;
    private final String fingerprint;
    private final Leak leak;

    StreamDataset(Builder settings) {
        fields = List.copyOf(settings.fields);
        specs = fields.stream().map(Field::spec).toList();
        parts = settings.source.parts();
        fingerprint = "stream:" + partitioned(settings.source)
                + fields.stream().map(field -> "," + field.spec + (field.decoder == null ? "" : ":" + field.decoder))
                        .collect(Collectors.joining());
        buffer = new StreamBuffer(settings.source, settings.name, settings.window, settings.lanes,
                settings.epochRecords, settings.seed, settings.maxBytes, settings.patienceNanos, settings.nanoTime);
        leak = Leak.watch(this, "stream", settings.name);
    }

    /** The fingerprint of a source with its partitions: their names, or a digest of them if they are many. */
    static String partitioned(StreamSource source) {
        String names = source.partitions().toString();
        if (names.length() > MOST_NAMES) {
            MessageDigest sha256 = Sha256.digest();
            source.partitions().forEach(name -> sha256.update((name + "\n").getBytes(StandardCharsets.UTF_8)));
            names = source.partitions().size() + ":sha256=" + Sha256.shortHex(sha256);
        }
        return source.fingerprint() + " partitions=" + names;
    }

    /**
     * Returns the settings of a dataset over a source.
     *
     * @param source the source; must stay open
     * @return the settings, which need at least one field
     */
    public static Builder builder(StreamSource source) {
        return new Builder(source);
    }

    /** {@return 2^62: nobody knows how many samples will come} */
    @Override
    public long size() {
        return StreamOrder.ENDLESS;
    }

    @Override
    public List<TensorSpec> fields() {
        return specs;
    }

    @Override
    public FieldSource source(int field) {
        Field of = fields.get(field);
        int part = part(of);
        FieldSource.Place place = (sample, into) -> buffer.locate(sample, part, into);
        if (of.decoder != null) {
            return new FieldSource.Decoded(place, of.decoder);
        }
        long mostBytes = of.mostBytes;
        return FieldSource.stored(mostBytes == Long.MAX_VALUE ? place : (sample, into) -> {
            buffer.locate(sample, part, into);
            into.setPart(into, 0, Math.min(into.byteSize(), mostBytes));
        });
    }

    /** The part of a record that a field is made of. */
    private int part(Field field) {
        return parts.size() > 1 ? parts.indexOf(field.spec.name()) : RecordBuffer.WHOLE;
    }

    /**
     * Returns the lengths of a field, for {@link io.penstock.loader.DataLoaderBuilder#tokenBudget}.
     *
     * @param field the field's name; of records that are bytes or lists
     * @return the length of a sample that is in memory, by its index
     * @throws IllegalArgumentException if there is no such field, or it is decoded or of one length
     */
    public LongUnaryOperator lengths(String field) {
        Field of = fields.stream().filter(one -> one.spec.name().equals(field) && one.decoder == null
                && one.spec.isVariable()).findFirst().orElseThrow(() -> new IllegalArgumentException("field '" + field
                        + "': found " + specs + ", expected one of bytes or lists that is not decoded"));
        int part = part(of);
        long mostBytes = of.mostBytes;
        long elementBytes = of.spec.rowBytes();
        return sample -> Math.min(buffer.byteSize(sample, part), mostBytes) / elementBytes;
    }

    /** {@return where the stream's time goes, and how far it is behind its source} */
    public Status status() {
        return buffer.status();
    }

    @Override
    public Optional<Arrivals> arrivals() {
        return Optional.of(buffer);
    }

    /** {@return the fixed length of a field, or the one that its settings name as the greatest} */
    @Override
    public long maxLength(int field) {
        return fields.get(field).maxLength;
    }

    @Override
    public String name(long sample) {
        return "record " + sample + " of the stream";
    }

    @Override
    public String fingerprint() {
        return fingerprint;
    }

    /** Ends the reader's thread and frees the windows. Calling it again does nothing. */
    @Override
    public void close() {
        leak.closed();
        buffer.close();
    }

    @Override
    public String toString() {
        return "a stream of " + specs;
    }

    /** The settings of a {@link StreamDataset}. */
    public static final class Builder {

        private final StreamSource source;
        private final List<Field> fields = new ArrayList<>();
        private String name = "penstock";
        private int window = 8192;
        private @Nullable Long seed;
        private int lanes = 1;
        private long epochRecords = StreamOrder.ENDLESS;
        private long maxBytes = 1L << 30;
        private long patienceNanos = -1;
        private LongSupplier nanoTime = System::nanoTime;

        private Builder(StreamSource source) {
            this.source = Objects.requireNonNull(source, "source");
        }

        /**
         * Adds a field of the records' bytes, {@code u8[*]}, of at most 1 MiB.
         *
         * @param field the field's name
         * @return this
         */
        public Builder field(String field) {
            return field(new Field(new TensorSpec(field, DType.U8, TensorSpec.VARIABLE), null, 1 << 20));
        }

        /**
         * Adds a field of records that are tensors of one shape: packed, row-major, little-endian.
         *
         * @param field the field's name
         * @param dtype the element type
         * @param shape the shape, without {@link TensorSpec#VARIABLE}
         * @return this
         * @throws IllegalArgumentException if the shape varies
         */
        public Builder field(String field, DType dtype, long... shape) {
            var spec = new TensorSpec(field, dtype, shape);
            if (spec.isVariable()) {
                throw new IllegalArgumentException(spec + ": found a length that varies, expected a shape");
            }
            return field(new Field(spec, null, spec.rank() == 0 ? 1 : spec.dim(0)));
        }

        /**
         * Adds a field of records that are lists of numbers, {@code dtype[*]}: packed, little-endian. Longer ones are
         * cut.
         *
         * @param field the field's name
         * @param dtype the element type
         * @param maxLength the most elements, at least 1
         * @return this
         */
        public Builder list(String field, DType dtype, long maxLength) {
            if (maxLength < 1) {
                throw new IllegalArgumentException(field + ": at most " + maxLength + " elements, expected 1 or more");
            }
            return field(new Field(new TensorSpec(field, dtype, TensorSpec.VARIABLE), null, maxLength,
                    Math.multiplyExact(maxLength, (long) dtype.byteSize())));
        }

        /**
         * Adds a field that a decoder makes of the records.
         *
         * @param field the field's name
         * @param decoder the decoder
         * @param maxLength the greatest length of a value along its first dimension, if that varies
         * @return this
         * @throws IllegalArgumentException if the decoder does not take bytes
         */
        public Builder field(String field, Decoder decoder, long maxLength) {
            TensorSpec spec = decoder.field(Column.bytes(field, ""));
            return field(new Field(spec, decoder, spec.isVariable() ? maxLength : spec.rank() == 0 ? 1 : spec.dim(0)));
        }

        private Builder field(Field field) {
            if (fields.stream().anyMatch(other -> other.spec.name().equals(field.spec.name()))) {
                throw new IllegalArgumentException("two fields are named '" + field.spec.name() + "'");
            }
            if (!source.parts().isEmpty() && !source.parts().contains(field.spec.name())) {
                throw new IllegalArgumentException("field '" + field.spec.name() + "': found no such part of a record,"
                        + " expected one of " + source.parts());
            }
            fields.add(field);
            return this;
        }

        /**
         * Shuffles windows of records. A record moves at most within its window, and the first batch waits until the
         * first window is full. Default: the order in which records come.
         *
         * @param seed any number
         * @param window records in a window of each lane, at least 1; more shuffle better and take more memory
         * @return this
         */
        public Builder shuffle(long seed, int window) {
            if (window < 1) {
                throw new IllegalArgumentException("window of " + window + " records, expected 1 or more");
            }
            this.seed = seed;
            this.window = window;
            return this;
        }

        /**
         * Divides the partitions among ranks. Partition {@code p} belongs to lane {@code p} modulo the number of lanes,
         * and a rank reads only the lanes that its positions are in, so that nothing is read twice. Where a lane ends,
         * the others go on; divided among several ranks, that is a {@link LaneEndException}, as the others cannot know
         * it. Default 1: each rank reads everything, and takes its part.
         *
         * <p>A run may resume with any number of ranks that divides the lanes, from the
         * {@linkplain io.penstock.state.LoaderState#join joined} states of all ranks.
         *
         * @param lanes at most the number of partitions
         * @return this
         */
        public Builder lanes(int lanes) {
            int partitions = source.partitions().size();
            if (lanes < 1 || lanes > partitions) {
                throw new IllegalArgumentException("lanes: " + lanes + ", expected 1 to " + partitions
                        + ", the number of partitions");
            }
            this.lanes = lanes;
            return this;
        }

        /**
         * Divides the stream into epochs, after which a loop over an epoch ends. Default: one epoch without end.
         *
         * @param records records in an epoch, of all lanes: a multiple of their number
         * @return this
         */
        public Builder epochRecords(long records) {
            if (records < 1 || records > StreamOrder.ENDLESS) {
                throw new IllegalArgumentException("an epoch of " + records + " records, expected 1 to 2^62");
            }
            this.epochRecords = records;
            return this;
        }

        /**
         * Does not wait for silent partitions: one that has had nothing for a while is put aside until it has a record
         * again. When that happens is no function of the records, so the state keeps a log of it, and a run that
         * resumes repeats what it has given. Default: each partition is waited for.
         *
         * @param patience how long to wait for a partition, and how often one that is aside is asked again
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder live(Duration patience) {
            if (patience.isNegative()) {
                throw new IllegalArgumentException("live: found " + patience + ", expected 0 or more");
            }
            this.patienceNanos = patience.toNanos();
            return this;
        }

        /** The clock of {@link #live}, for tests. */
        Builder clock(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            return this;
        }

        /**
         * Limits the bytes of records in memory; each lane may exceed the limit by one record. A lane reads ahead of
         * the trainer within an equal part of the limit. The batches in flight and their windows must fit, or the run
         * fails. Default 1 GiB.
         *
         * @param bytes at least 1
         * @return this
         */
        public Builder maxBytes(long bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("at most " + bytes + " bytes, expected 1 or more");
            }
            this.maxBytes = bytes;
            return this;
        }

        /**
         * Names the stream in messages and threads. Default {@code penstock}.
         *
         * @param name any text
         * @return this
         */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Creates the dataset of a {@link PackedSource}. Reading begins with the loader.
         *
         * @return the dataset, to be closed by the caller after the loader
         * @throws IllegalArgumentException if the source is another one, a field was named, or lanes do not divide an
         *     epoch
         */
        public PackedStream openPacked() {
            if (!(source instanceof PackedSource packed) || !fields.isEmpty()) {
                throw new IllegalArgumentException("found source " + source.fingerprint() + " and fields " + fields
                        + ", expected a PackedSource without fields");
            }
            checkEpoch();
            return new PackedStream(this, packed);
        }

        /**
         * Creates the dataset. Reading begins with the loader.
         *
         * @return the dataset, to be closed by the caller after the loader
         * @throws IllegalArgumentException if there is no field, or lanes do not divide an epoch
         */
        public StreamDataset open() {
            if (fields.isEmpty()) {
                throw new IllegalArgumentException("no field was named, expected at least one");
            }
            checkEpoch();
            return new StreamDataset(this);
        }

        private void checkEpoch() {
            if (epochRecords != StreamOrder.ENDLESS && epochRecords % lanes != 0) {
                throw new IllegalArgumentException("an epoch of " + epochRecords + " records, expected a multiple of"
                        + " the " + lanes + " lanes");
            }
        }
    }
}
