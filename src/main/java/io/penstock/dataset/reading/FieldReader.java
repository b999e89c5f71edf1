// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;

/**
 * Reads one field for one worker; each case of {@link FieldSource} has a reader. For one thread; owns its working
 * memory.
 *
 * <p>Set the {@linkplain ReadContext context} to a sample before you read it; methods that read a batch do so
 * themselves.
 */
abstract sealed class FieldReader implements AutoCloseable permits StoredReader, MadeReader, JoinedReader {

    final ReadContext context;
    final TensorSpec spec;
    /** Bytes of a value, or of a row if the number of rows varies. */
    final long unitBytes;
    final boolean isVariable;
    /** Whether values are booleans, which a batch stores as 0 and 1. */
    final boolean areTruths;
    /** The last location. */
    final Span span = new Span();
    /** The batch of {@link #locateAll}. */
    @SuppressWarnings("NullAway.Init")
    BatchPlan batch;
    private long[] batchBytes = {};

    FieldReader(TensorSpec spec, ReadContext context) {
        this.spec = spec;
        this.context = context;
        this.isVariable = spec.isVariable();
        this.unitBytes = isVariable ? spec.rowBytes() : spec.byteSize();
        this.areTruths = spec.dtype() == DType.BOOL;
    }

    /** Opens a reader, and those that it reads from. The context closes them. */
    static FieldReader open(FieldSource source, TensorSpec spec, long samples, ReadContext context) {
        FieldReader reader = switch (source) {
            case FieldSource.Stored stored -> new StoredReader(stored, spec, samples, context);
            case FieldSource.InParts parts -> new PartsReader(parts, spec, context);
            case FieldSource.Decoded decoded -> new DecodedReader(decoded, spec, context);
            case FieldSource.Gathered gathered -> new DecodedReader(gathered, spec, context);
            case FieldSource.Mapped mapped -> new MappedReader(mapped,
                    open(mapped.input(), mapped.in(), samples, context), mapped.beside() == null ? null
                            : open(mapped.beside().source(), mapped.beside().field(), samples, context),
                    spec, context);
            case FieldSource.Generated generated -> new GeneratedReader(generated, spec, context);
            case FieldSource.Joined joined -> new JoinedReader(joined, spec, context);
        };
        context.closeWithThis(reader);
        return reader;
    }

    /** Locates the field's value; valid until the next call. */
    abstract Span locate(long sample);

    /** Returns the bytes of a value of varying length, without computing the value if possible. */
    abstract long measure(long sample);

    /** Writes the value and returns its size in bytes. */
    abstract long copy(long sample, MemorySegment target, long targetOffset);

    /** Locates the value for user code: a copy in native memory, or in place if allowed. Valid until the next call. */
    abstract Span value(long sample, boolean inPlace);

    final long byteSize(long sample) {
        return isVariable ? measure(sample) : unitBytes;
    }

    /** Writes the values of a batch consecutively and returns their size in bytes. */
    long copyAll(BatchPlan plan, MemorySegment target, long targetOffset) {
        long at = targetOffset;
        for (int i = 0; i < plan.count(); i++) {
            context.at(plan, i);
            at += copy(plan.sample(i), target, at);
        }
        return at - targetOffset;
    }

    /** Locates a batch's values and finds their sizes. */
    final void locateAll(BatchPlan plan) {
        batch = plan;
        if (batchBytes.length < plan.count()) {
            batchBytes = new long[plan.count()];
        }
        locateAll(plan, batchBytes);
    }

    void locateAll(BatchPlan plan, long[] bytes) {
        for (int i = 0; i < plan.count(); i++) {
            context.at(plan, i);
            bytes[i] = byteSize(plan.sample(i));
        }
    }

    final long locatedBytes(int i) {
        return batchBytes[i];
    }

    /** Returns the value of a sample of {@link #locateAll}. */
    Span located(int i) {
        context.at(batch, i);
        return locate(batch.sample(i));
    }

    /** Prefetches the start of the value into the CPU cache, if possible. */
    void prefetch(long sample) {
    }

    final void normalize(MemorySegment target, long targetOffset, long bytes) {
        if (areTruths) {
            TruthValues.normalize(target, targetOffset, bytes);
        }
    }

    /** Returns all bytes of a value as the field's tensor. */
    final Tensor tensor(MemorySegment memory, long offset, long bytes) {
        MemorySegment value = memory.asSlice(offset, bytes);
        long[] shape = spec.shape();
        if (isVariable) {
            shape[0] = unitBytes == 0 ? 0 : value.byteSize() / unitBytes;
        }
        return Tensor.of(value, spec.dtype(), shape);
    }

    /** Frees what is this reader's own. */
    @Override
    public void close() {
    }
}
