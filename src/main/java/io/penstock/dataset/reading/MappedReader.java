// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Runs user code on the values of another reader. */
final class MappedReader extends MadeReader {

    private final FieldReader input;
    private final SampleMap map;
    /** Null if the map needs none. */
    private final SampleMap.@Nullable Session session;
    private final boolean decodes;
    private final long step;

    MappedReader(FieldSource.Mapped source, FieldReader input, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.input = input;
        this.map = source.map();
        this.session = map.open().orElse(null);
        this.decodes = map.decodes();
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
        long start = context.clock.now();
        Span value = input.value(sample, map.readsInPlace());
        if (decodes) {
            context.clock.readSince(start);
        }
        long begin = context.clock.now();
        try {
            run(value, bytes, target, targetOffset);
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

    private void run(Span value, long bytes, MemorySegment target, long targetOffset) throws IOException {
        MemorySegment in = value.segment();
        if (session != null) {
            session.map(in, value.byteOffset(), value.byteSize(), context.chance(step), target, targetOffset, bytes);
        } else {
            map.map(input.tensor(in, value.byteOffset(), value.byteSize()), context.chance(step),
                    tensor(target, targetOffset, bytes));
        }
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
        input.close();
        super.close();
    }
}
