// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;

/** Reads values of concatenated sources of different kinds, each by its source's reader. */
final class JoinedReader extends FieldReader {

    private final FieldReader[] parts;
    private final PrefixSums starts;
    private final LongUnaryOperator origin;
    private long within;

    JoinedReader(FieldSource.Joined source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.starts = PrefixSums.ofLengths(source.sizes().length, part -> source.sizes()[part]);
        this.origin = source.origin();
        this.parts = new FieldReader[source.parts().size()];
        for (int p = 0; p < parts.length; p++) {
            parts[p] = open(source.parts().get(p), spec, starts.length(p), context);
        }
    }

    /** Returns the reader of a sample, and sets {@link #within} to its index there. */
    private FieldReader of(long sample) {
        long at = origin.applyAsLong(sample);
        int part = starts.runOf(at);
        within = at - starts.start(part);
        return parts[part];
    }

    @Override
    Span locate(long sample) {
        return of(sample).locate(within);
    }

    @Override
    long measure(long sample) {
        return of(sample).measure(within);
    }

    @Override
    long copy(long sample, MemorySegment target, long targetOffset) {
        return of(sample).copy(within, target, targetOffset);
    }

    @Override
    Span value(long sample, boolean inPlace) {
        return of(sample).value(within, inPlace);
    }

    @Override
    void prefetch(long sample) {
        of(sample).prefetch(within);
    }
}
