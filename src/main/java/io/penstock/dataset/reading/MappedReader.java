// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Runs user code on the values of another reader. */
final class MappedReader extends MadeReader {

    private final FieldReader input;
    private final SampleMap map;
    private final SampleMap.Session session;
    private final long step;

    MappedReader(FieldSource.Mapped source, FieldReader input, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.input = input;
        this.map = source.map();
        this.session = map.open();
        this.step = source.step();
    }

    /** A value of varying length is as long as its input. */
    @Override
    long prepare(long sample) {
        return !isVariable ? unitBytes
                : input.unitBytes == 0 ? 0 : input.byteSize(sample) / input.unitBytes * unitBytes;
    }

    @Override
    void make(long sample, long bytes, MemorySegment target, long targetOffset) {
        boolean decodes = map.decodes();
        long start = context.clock.now();
        MemorySegment value = input.value(sample, map.readsInPlace());
        if (decodes) {
            context.clock.readSince(start);
        }
        long begin = context.clock.now();
        try {
            session.map(input.tensor(value), context.chance(step), tensor(target.asSlice(targetOffset, bytes)));
            if (decodes) {
                context.clock.decodedSince(begin);
            } else {
                context.clock.transformedSince(begin);
            }
        } catch (IOException e) {
            throw context.bad(spec, e);
        } catch (RuntimeException e) {
            throw context.failed(spec, "map", e);
        }
    }

    @Override
    public void close() {
        session.close();
        input.close();
        super.close();
    }
}
