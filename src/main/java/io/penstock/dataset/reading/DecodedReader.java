// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.error.PenstockException;
import io.penstock.internal.Scratch;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Decodes values from a copy of the stored bytes: a decoder may be native code, which must not read a mapping. */
final class DecodedReader extends MadeReader {

    private static final List<String> DECODE = List.of("decode");

    private final FieldSource.Place place;
    private final Decoder.Session decoder;
    private final Span found = new Span();
    /** The decoder's input. */
    private final Scratch stored = new Scratch();
    private long storedBytes;
    private final int part;

    DecodedReader(FieldSource.Decoded source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.place = source.place();
        this.decoder = source.decoder().open();
        this.part = context.clock.addParts(DECODE);
    }

    @Override
    long prepare(long sample) {
        context.locate(place, sample, found);
        storedBytes = found.byteSize();
        long begin = context.clock.now();
        context.reader.copy(found, stored.of(storedBytes), 0);
        context.clock.readSince(begin, context.sample(), storedBytes);
        if (!isVariable) {
            return unitBytes;
        }
        try {
            long bytes = decoder.byteSize(stored.of(storedBytes), storedBytes);
            context.checkSize(bytes, spec, unitBytes);
            return bytes;
        } catch (IOException | PenstockException e) {
            throw context.bad(spec, e);
        }
    }

    @Override
    void make(long sample, long bytes, MemorySegment target, long targetOffset) {
        long begin = context.clock.now();
        try {
            decoder.decode(stored.of(storedBytes), storedBytes, target, targetOffset, bytes);
            context.clock.decodedSince(begin, part, context.sample());
        } catch (IOException | PenstockException e) {
            throw context.bad(spec, e);
        }
    }

    @Override
    public void close() {
        decoder.close();
        stored.close();
        super.close();
    }
}
