// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * A token store in native memory whose token at position {@code p} is {@link #token}, cut into documents at given
 * positions: what a batch must hold follows from its samples' indices alone.
 */
public final class MemoryTokenStore implements TokenStore {

    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment tokens;
    private final DType dtype;
    private final long[] starts;
    private final LongUnaryOperator tokenAt;

    /** A store of one document. */
    public MemoryTokenStore(DType dtype, long count) {
        this(dtype, new long[] {0, count});
    }

    /** A store of documents from {@code starts[d]} to {@code starts[d + 1]}. */
    public MemoryTokenStore(DType dtype, long[] starts) {
        this(dtype, starts, position -> mix(dtype, position));
    }

    /** A store of documents with given tokens. */
    public MemoryTokenStore(DType dtype, long[] starts, LongUnaryOperator tokenAt) {
        this.dtype = dtype;
        this.tokenAt = tokenAt;
        this.starts = starts;
        this.tokens = arena.allocate(Math.max(1, tokenCount() * dtype.byteSize()));
        for (long p = 0; p < tokenCount(); p++) {
            long value = token(p);
            switch (dtype) {
                case U8, I8 -> tokens.set(ValueLayout.JAVA_BYTE, p, (byte) value);
                case U16, I16 -> tokens.set(I16, 2 * p, (short) value);
                case U32, I32 -> tokens.set(I32, 4 * p, (int) value);
                default -> tokens.set(I64, 8 * p, value);
            }
        }
    }

    /** The token at a position. */
    public long token(long position) {
        return tokenAt.applyAsLong(position);
    }

    /** Makes neighbors differ in all bits of the dtype. */
    private static long mix(DType dtype, long position) {
        long mixed = (position + 1) * 0x9E3779B97F4A7C15L >>> 64 - 8 * dtype.byteSize();
        int unused = 64 - 8 * dtype.byteSize();
        return dtype.isUnsigned() ? mixed : mixed << unused >> unused;
    }

    @Override
    public DType dtype() {
        return dtype;
    }

    @Override
    public long tokenCount() {
        return starts[starts.length - 1];
    }

    @Override
    public long documentCount() {
        return starts.length - 1;
    }

    @Override
    public long documentStart(long document) {
        return starts[Math.toIntExact(document)];
    }

    @Override
    public void locate(long firstToken, long count, Span into) {
        Objects.checkFromIndexSize(firstToken, count, tokenCount());
        into.set(tokens, firstToken * dtype.byteSize(), count * dtype.byteSize());
    }

    @Override
    public String fingerprint() {
        return "memory:" + dtype + ":tokens=" + tokenCount();
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
