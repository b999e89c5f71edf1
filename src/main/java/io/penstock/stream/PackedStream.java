// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.dataset.PackedSamples;
import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * The sequences of a {@link PackedSource} as a dataset, for {@link io.penstock.collate.PackedLm}. Its one field is
 * {@code tokens} of shape {@code [*]}, or {@code masked_tokens} of conversations.
 */
public final class PackedStream extends StreamDataset implements PackedSamples {

    private final int capacity;
    private final int maxParts;
    private final int tokenBytes;
    private final List<TensorSpec> fields;

    PackedStream(Builder settings, PackedSource source) {
        super(settings);
        this.capacity = source.capacity();
        this.maxParts = source.maxParts();
        this.tokenBytes = source.dtype().byteSize();
        this.fields = List.of(new TensorSpec(source.documents().content().fieldName(), source.dtype(),
                TensorSpec.VARIABLE));
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return new FieldSource.InParts(this::parts, (sample, part, into) -> {
            int tokens = locateWithNext(sample, part, into);
            into.setPart(into, 0, (long) tokens * tokenBytes);
        });
    }

    /** {@return the tokens of a sequence} */
    @Override
    public LongUnaryOperator lengths(String field) {
        return this::length;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int maxParts() {
        return maxParts;
    }

    @Override
    public int parts(long sample) {
        Window window = buffer.window(sample);
        return PackedRecord.parts(window.records.bytes(), buffer.begin(window, sample));
    }

    @Override
    public int length(long sample) {
        Window window = buffer.window(sample);
        return PackedRecord.tokens(window.records.bytes(), buffer.begin(window, sample));
    }

    @Override
    public int locateWithNext(long sample, int part, Span into) {
        Window window = buffer.window(sample);
        MemorySegment bytes = window.records.bytes();
        long at = buffer.begin(window, sample);
        Objects.checkIndex(part, PackedRecord.parts(bytes, at));
        long begin = PackedRecord.begin(bytes, at, part, tokenBytes);
        into.set(bytes, at + begin, PackedRecord.begin(bytes, at, part + 1, tokenBytes) - begin);
        return PackedRecord.length(bytes, at, part);
    }

    @Override
    public long maxLength(int field) {
        return capacity;
    }

    @Override
    public String toString() {
        return "a stream of sequences of up to " + capacity + " tokens";
    }
}
