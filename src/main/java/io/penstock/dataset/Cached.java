// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.FieldSource;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedBlocks;
import io.penstock.io.publish.UnnamedFile;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A dataset that caches the values of a decoded, mapped or generated field, made by {@link Dataset#cache}: each is
 * computed on the first read of its sample and stored. The cache is an unnamed file in the folder of the system
 * property {@value UnnamedFile#FOLDER_PROPERTY}, by default the system's temporary folder. It is in memory as far as
 * there is room, otherwise on disk, and ends with the process.
 *
 * <p>Do not cache random values: put a map that draws random numbers after the cache. A sample that cannot be decoded
 * is retried on each read. Takes 12 bytes per sample.
 *
 * {@snippet :
 * try (Cached pixels = RecordFields.of(shards).and("jpg", ImageDecoder.rgb(224, 224)).cache("jpg")) {
 *     Dataset noisy = pixels.map("jpg", spec, "noise", noise);
 * }
 * }
 */
public final class Cached implements Dataset, AutoCloseable {

    private final Dataset base;
    private final int field;
    private final DecodedBlocks values;
    /** The readers that no thread is using. */
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

    static Cached of(Dataset base, String field) throws IOException {
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
    public String key(long sample) {
        return base.key(sample);
    }

    @Override
    public long maxLength(int field) {
        return base.maxLength(field);
    }

    /** Returns the base's fingerprint: caching does not change values. */
    @Override
    public String fingerprint() {
        return base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", '" + base.fields().get(field).name() + "' cached";
    }

    /** Frees the cache. Calling it again does nothing. */
    @Override
    public void close() {
        values.close();
        for (SampleReader reader = readers.poll(); reader != null; reader = readers.poll()) {
            reader.close();
        }
    }
}
