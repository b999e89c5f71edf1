// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Runs user code on the values of another reader. */
final class MappedReader extends MadeReader {

    private final FieldReader input;
    private final SampleMap map;
    private final long step;
    /** The first of the map's parts; -1 if it has none. */
    private final int firstPart;
    private int made;

    MappedReader(FieldSource.Mapped source, FieldReader input, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.input = input;
        this.map = source.map();
        this.step = source.step();
        List<String> parts = map.parts();
        this.firstPart = parts.isEmpty() ? -1 : context.clock.addParts(parts);
    }

    /** A value of varying length is as long as its input. */
    @Override
    long prepare(long sample) {
        return !isVariable ? unitBytes
                : input.unitBytes == 0 ? 0 : input.byteSize(sample) / input.unitBytes * unitBytes;
    }

    @Override
    void make(long sample, long bytes, MemorySegment target, long targetOffset) {
        MemorySegment value = input.value(sample, map.readsInPlace());
        long begin = context.clock.now();
        try {
            Tensor in = input.tensor(value);
            Tensor out = tensor(target.asSlice(targetOffset, bytes));
            if (firstPart >= 0 && (made++ & StageClock.EVERY - 1) == 0) {
                map.map(in, context.chance(step), out, context.clock.timing(firstPart, begin));
            } else {
                map.map(in, context.chance(step), out);
            }
            context.clock.transformedSince(begin);
        } catch (IOException e) {
            throw context.bad(spec, e);
        } catch (RuntimeException e) {
            throw context.failed(spec, "map", e);
        }
    }

    @Override
    public void close() {
        input.close();
        super.close();
    }
}
