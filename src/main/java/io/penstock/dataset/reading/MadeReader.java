// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.internal.Scratch;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;

/** Reads values that are assembled or computed each time, into a batch or its own memory. */
abstract sealed class MadeReader extends FieldReader permits PartsReader, DecodedReader, MappedReader, GeneratedReader {

    private final Scratch made = new Scratch();

    MadeReader(TensorSpec spec, ReadContext context) {
        super(spec, context);
    }

    /** Returns the bytes of a value; only {@link #make} of the same value may follow. */
    abstract long prepare(long sample);

    /** Writes a prepared value. */
    abstract void make(long sample, long bytes, MemorySegment target, long targetOffset);

    @Override
    final long measure(long sample) {
        context.checkWanted();
        return prepare(sample);
    }

    @Override
    Span locate(long sample) {
        return madeHere(sample);
    }

    private Span madeHere(long sample) {
        long bytes = measure(sample);
        MemorySegment memory = made.of(bytes);
        make(sample, bytes, memory, 0);
        normalize(memory, 0, bytes);
        span.set(memory, 0, bytes);
        return span;
    }

    @Override
    final long copy(long sample, MemorySegment target, long targetOffset) {
        long bytes = measure(sample);
        make(sample, bytes, target, targetOffset);
        normalize(target, targetOffset, bytes);
        return bytes;
    }

    /** Makes the value in this reader's own memory: user code may write there. */
    @Override
    final Span value(long sample, boolean inPlace) {
        return madeHere(sample);
    }

    @Override
    public void close() {
        made.close();
    }
}
