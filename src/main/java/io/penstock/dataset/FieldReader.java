package io.penstock.dataset;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;

/**
 * Reads one field for one worker: there is a reader for each case of {@link FieldSource}. For one thread; owns what
 * memory it works in.
 *
 * <p>What reads a sample is called when the {@linkplain ReadContext context} has come to it; what reads a batch brings
 * the context to each of its samples.
 */
abstract sealed class FieldReader implements AutoCloseable permits StoredReader, MadeReader, JoinedReader {

    final ReadContext context;
    final TensorSpec spec;
    /** Bytes of a value; of a row where the number of rows varies. */
    final long unitBytes;
    final boolean isVariable;
    /** Whether values are truth values, which a batch has as 0 and 1, whatever is stored. */
    final boolean areTruths;
    /** What was located last. */
    final Span span = new Span();
    /** The batch of {@link #locateAll}. */
    BatchPlan batch;
    private long[] batchBytes = {};

    FieldReader(TensorSpec spec, ReadContext context) {
        this.spec = spec;
        this.context = context;
        this.isVariable = spec.isVariable();
        this.unitBytes = isVariable ? spec.rowBytes() : spec.byteSize();
        this.areTruths = spec.dtype() == DType.BOOL;
    }

    /** A reader of a field of so many samples. */
    static FieldReader open(FieldSource source, TensorSpec spec, long samples, ReadContext context) {
        return switch (source) {
            case FieldSource.Stored stored -> new StoredReader(stored, spec, samples, context);
            case FieldSource.InParts parts -> new PartsReader(parts, spec, context);
            case FieldSource.Decoded decoded -> new DecodedReader(decoded, spec, context);
            case FieldSource.Mapped mapped -> new MappedReader(mapped,
                    open(mapped.input(), mapped.in(), samples, context), spec, context);
            case FieldSource.Generated generated -> new GeneratedReader(generated, spec, context);
            case FieldSource.Joined joined -> new JoinedReader(joined, spec, context);
        };
    }

    /** Points at the value as the field has it; valid until the next call. */
    abstract Span locate(long sample);

    /** The bytes of a value whose length varies, found without making the value where that can be. */
    abstract long measure(long sample);

    /** Writes the value, and returns its bytes. */
    abstract long copy(long sample, MemorySegment target, long targetOffset);

    /** The value for code of a user: in native memory of its own, or where it lies if that may be. */
    abstract MemorySegment value(long sample, boolean inPlace);

    final long byteSize(long sample) {
        return isVariable ? measure(sample) : unitBytes;
    }

    /** Writes the values of a batch one behind the other, and returns their bytes. */
    long copyAll(BatchPlan plan, MemorySegment target, long targetOffset) {
        long at = targetOffset;
        for (int i = 0; i < plan.count(); i++) {
            context.at(plan, i);
            at += copy(plan.sample(i), target, at);
        }
        return at - targetOffset;
    }

    /** Finds out the sizes of a batch's values. */
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

    /** The value of a sample of {@link #locateAll}. */
    Span located(int i) {
        context.at(batch, i);
        return locate(batch.sample(i));
    }

    /** Has the CPU fetch where the value begins, if that is a hint that can be given. */
    void prefetch(long sample) {
    }

    final void normalize(MemorySegment target, long targetOffset, long bytes) {
        if (areTruths) {
            TruthValues.normalize(target, targetOffset, bytes);
        }
    }

    /** All bytes of a value as the field has them. */
    final Tensor tensor(MemorySegment value) {
        long[] shape = spec.shape();
        if (isVariable) {
            shape[0] = unitBytes == 0 ? 0 : value.byteSize() / unitBytes;
        }
        return Tensor.of(value, spec.dtype(), shape);
    }

    @Override
    public abstract void close();
}
