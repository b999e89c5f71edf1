package io.penstock.dataset;

import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.spill.DecodedBlocks;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A dataset that keeps the values of a field that is decoded, mapped or generated: each is made once, when its sample
 * is first read, and then read as anything else that is stored. They are kept in a file without a name, in the folder
 * that the system property {@value DecodedBlocks#FOLDER_PROPERTY} names, or the system's one for temporary files: in
 * memory as far as there is room, on disk beyond that, and gone with the process.
 *
 * <p>What follows from chance is not kept: a {@linkplain Mapped map} that draws random numbers goes behind the cache.
 * A sample that cannot be decoded is tried again each time. Keeps 12 bytes a sample.
 *
 * {@snippet :
 * try (Cached pixels = Cached.of(RecordFields.of(shards).and("jpg", ImageDecoder.rgb(224, 224)), "jpg")) {
 *     Dataset noisy = Mapped.of(pixels, "jpg", spec, "noise", noise);
 * }
 * }
 */
public final class Cached implements Dataset, AutoCloseable {

    private final Dataset base;
    private final int field;
    private final DecodedBlocks values;
    /** Those that no thread reads with at the moment. */
    private final Queue<SampleReader> readers = new ConcurrentLinkedQueue<>();

    private Cached(Dataset base, int field, long[] sizes) throws IOException {
        this.base = base;
        this.field = field;
        this.values = DecodedBlocks.create(base.fields().get(field).name(), sizes, (sample, target) -> {
            SampleReader reader = readers.poll();
            if (reader == null) {
                reader = new SampleReader(base, ReadMode.AUTO);
            }
            try {
                reader.copy(sample, field, target, 0);
            } finally {
                readers.add(reader);
            }
        });
    }

    /**
     * Keeps a field's values. Where its length varies, all lengths are measured first, in one pass.
     *
     * @param base the samples, fewer than 2^31; must stay open
     * @param field the field's name
     * @return the dataset, to be closed by the caller when nobody reads it
     * @throws IOException if there is no room for the values, which are told by their folder
     * @throws IllegalArgumentException if there is no such field
     * @throws ArithmeticException if there are too many samples or bytes
     */
    public static Cached of(Dataset base, String field) throws IOException {
        int index = base.indexOf(field);
        TensorSpec spec = base.fields().get(index);
        long[] sizes = new long[Math.toIntExact(base.size())];
        if (spec.isVariable()) {
            Lengths lengths = Lengths.of(base, index);
            Arrays.setAll(sizes, sample -> Math.multiplyExact(lengths.applyAsLong(sample), spec.rowBytes()));
        } else {
            Arrays.fill(sizes, spec.byteSize());
        }
        return new Cached(base, index, sizes);
    }

    @Override
    public long size() {
        return base.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return base.fields();
    }

    @Override
    public FieldSource source(int field) {
        return field == this.field ? FieldSource.stored(this::locate) : base.source(field);
    }

    private void locate(long sample, Span into) {
        Objects.checkIndex(sample, base.size());
        values.locate((int) sample, 0, values.byteSize((int) sample), into);
    }

    @Override
    public String name(long sample) {
        return base.name(sample);
    }

    @Override
    public long maxLength(int field) {
        return base.maxLength(field);
    }

    /** That of the samples: what is kept is what they have. */
    @Override
    public String fingerprint() {
        return base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", '" + base.fields().get(field).name() + "' kept";
    }

    /** Gives the room of the values back. Calling it again does nothing. */
    @Override
    public void close() {
        values.close();
        for (SampleReader reader = readers.poll(); reader != null; reader = readers.poll()) {
            reader.close();
        }
    }
}
