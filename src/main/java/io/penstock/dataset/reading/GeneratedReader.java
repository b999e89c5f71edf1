// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;

/** Reads one field of generated samples; the first reader of a sample generates it. */
final class GeneratedReader extends MadeReader {

    private final GeneratedRows rows;
    private final int field;
    private final LongUnaryOperator origin;

    GeneratedReader(FieldSource.Generated source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.rows = context.rows(source);
        this.field = source.field();
        this.origin = source.origin();
    }

    @Override
    long prepare(long sample) {
        if (!isVariable) {
            return unitBytes;
        }
        rows.locate(origin.applyAsLong(sample), field, span);
        return span.byteSize();
    }

    /** Locates the value in the row, without a copy: what a batch is built from is only read. */
    @Override
    Span locate(long sample) {
        context.checkWanted();
        rows.locate(origin.applyAsLong(sample), field, span);
        return span;
    }

    @Override
    void make(long sample, long bytes, MemorySegment target, long targetOffset) {
        rows.locate(origin.applyAsLong(sample), field, span);
        MemorySegment.copy(span.segment(), span.byteOffset(), target, targetOffset, bytes);
    }
}
