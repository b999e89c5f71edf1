// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Rows whose reading takes as long as is wanted.
 *
 * @param decoding what happens in the decoder, by the number of the row that its session decodes; null without a
 *     decoder
 * @param locating what happens in finding a row, which is within collating; may be null
 */
record InjectedRows(long size, MemorySegment bytes, LongConsumer decoding, LongConsumer locating)
        implements Dataset {

    static final int WIDTH = 64;

    InjectedRows(long size, LongConsumer decoding, LongConsumer locating) {
        this(size, Arena.ofAuto().allocate(size * WIDTH), decoding, locating);
        for (long row = 0; row < size; row++) {
            bytes.set(ValueLayout.JAVA_LONG, row * WIDTH, row);
        }
    }

    @Override
    public List<TensorSpec> fields() {
        return List.of(new TensorSpec("row", DType.U8, WIDTH));
    }

    @Override
    public FieldSource source(int field) {
        return decoding == null ? FieldSource.stored(this::locate) : new FieldSource.Decoded(this::locate, new Slow());
    }

    private void locate(long sample, Span into) {
        if (locating != null) {
            locating.accept(sample);
        }
        into.set(bytes, sample * WIDTH, WIDTH);
    }

    @Override
    public String fingerprint() {
        return "injected:" + size;
    }

    /** Does what is wanted, then copies. */
    private final class Slow implements Decoder {
        @Override
        public TensorSpec field(Column column) {
            return fields().getFirst();
        }

        @Override
        public Session open() {
            return new Session() {
                @Override
                public long byteSize(MemorySegment stored, long storedBytes) {
                    return WIDTH;
                }

                @Override
                public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                        long bytes) {
                    long row = stored.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
                    decoding.accept(row);
                    MemorySegment.copy(stored, 0, target, targetOffset, bytes);
                }

                @Override
                public void close() {
                    // Holds nothing.
                }
            };
        }
    }
}
