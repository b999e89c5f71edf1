package io.penstock.dataset;

import io.penstock.io.Span;
import io.penstock.memory.PrefixSums;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;

/** Reads values that come from several sources in different ways: each sample by the reader of its source. */
final class JoinedReader extends FieldReader {

    private final FieldReader[] parts;
    private final PrefixSums starts;
    private final LongUnaryOperator origin;

    JoinedReader(FieldSource.Joined source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.starts = source.starts();
        this.origin = source.origin();
        this.parts = new FieldReader[source.parts().size()];
        for (int p = 0; p < parts.length; p++) {
            parts[p] = open(source.parts().get(p), spec, starts.length(p), context);
        }
    }

    @Override
    Span locate(long sample) {
        long at = origin.applyAsLong(sample);
        int part = starts.runOf(at);
        return parts[part].locate(at - starts.start(part));
    }

    @Override
    long measure(long sample) {
        long at = origin.applyAsLong(sample);
        int part = starts.runOf(at);
        return parts[part].measure(at - starts.start(part));
    }

    @Override
    long copy(long sample, MemorySegment target, long targetOffset) {
        long at = origin.applyAsLong(sample);
        int part = starts.runOf(at);
        return parts[part].copy(at - starts.start(part), target, targetOffset);
    }

    @Override
    MemorySegment value(long sample, boolean inPlace) {
        long at = origin.applyAsLong(sample);
        int part = starts.runOf(at);
        return parts[part].value(at - starts.start(part), inPlace);
    }

    @Override
    void prefetch(long sample) {
        long at = origin.applyAsLong(sample);
        int part = starts.runOf(at);
        parts[part].prefetch(at - starts.start(part));
    }

    @Override
    public void close() {
        for (FieldReader part : parts) {
            part.close();
        }
    }
}
