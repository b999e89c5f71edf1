// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;

/** Assembles values from several runs of bytes. */
final class PartsReader extends MadeReader {

    private final FieldSource.InParts source;
    private final Span part = new Span();

    PartsReader(FieldSource.InParts source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.source = source;
    }

    @Override
    long prepare(long sample) {
        long bytes = 0;
        int parts = source.count().applyAsInt(sample);
        for (int p = 0; p < parts; p++) {
            context.locate(source.place(), sample, p, part);
            bytes += part.byteSize();
        }
        context.checkSize(bytes, spec, unitBytes);
        return bytes;
    }

    @Override
    void make(long sample, long bytes, MemorySegment target, long targetOffset) {
        long at = targetOffset;
        int parts = source.count().applyAsInt(sample);
        for (int p = 0; p < parts; p++) {
            context.locate(source.place(), sample, p, part);
            context.reader.copy(part, target, at);
            at += part.byteSize();
        }
    }
}
