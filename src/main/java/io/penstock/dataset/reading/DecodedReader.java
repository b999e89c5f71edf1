// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.error.PenstockException;
import io.penstock.internal.Scratch;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** Decodes values from a copy of the stored bytes: a decoder may be native code, which must not read a mapping. */
final class DecodedReader extends MadeReader {

    /** Brings the stored bytes of a sample into {@link #stored}, and returns how many there are. */
    private final LongUnaryOperator gather;
    private final Decoder.Session decoder;
    private final Span found = new Span();
    /** The decoder's input. */
    private final Scratch stored = new Scratch();
    private long storedBytes;
    private final int part;

    DecodedReader(FieldSource.Decoded source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.gather = sample -> one(source.place(), sample);
        this.decoder = source.decoder().open();
        this.part = context.clock.addParts(List.of(source.decoder().part()));
    }

    DecodedReader(FieldSource.Gathered source, TensorSpec spec, ReadContext context) {
        super(spec, context);
        this.gather = sample -> several(source, sample);
        this.decoder = source.decoder().open();
        this.part = context.clock.addParts(List.of(source.decoder().part()));
    }

    private long one(FieldSource.Place place, long sample) {
        context.locate(place, sample, found);
        long bytes = found.byteSize();
        long begin = context.clock.now();
        context.reader.copy(found, stored.of(bytes), 0);
        context.clock.readSince(begin, context.sample(), bytes);
        return bytes;
    }

    private long several(FieldSource.Gathered source, long sample) {
        long at = (long) source.count() * FieldSource.Gathered.PART_BYTES;
        stored.of(at);
        for (int i = 0; i < source.count(); i++) {
            long bytes = -1;
            long from = at;
            if (source.presence().has(sample, i)) {
                context.locate(source.place(), sample, i, found);
                bytes = found.byteSize();
                at += bytes;
                if (at > Integer.MAX_VALUE) {
                    throw context.bad(spec, new IOException("found values of " + at + " bytes, expected less than 2"
                            + " GiB"));
                }
                long begin = context.clock.now();
                context.reader.copy(found, grown(from, at), from);
                context.clock.readSince(begin, context.sample(), bytes);
            }
            MemorySegment head = stored.of(at);
            head.set(LittleEndian.I32, (long) i * FieldSource.Gathered.PART_BYTES, (int) from);
            head.set(LittleEndian.I32, (long) i * FieldSource.Gathered.PART_BYTES + Integer.BYTES, (int) bytes);
        }
        return at;
    }

    /** Returns memory of at least a size, with the bytes that were written before. */
    private MemorySegment grown(long written, long bytes) {
        if (stored.of(0).byteSize() < bytes) {
            byte[] before = stored.of(0).asSlice(0, written).toArray(ValueLayout.JAVA_BYTE);
            MemorySegment.copy(before, 0, stored.of(bytes), ValueLayout.JAVA_BYTE, 0, before.length);
        }
        return stored.of(bytes);
    }

    @Override
    long prepare(long sample) {
        storedBytes = gather.applyAsLong(sample);
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
