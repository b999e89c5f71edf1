// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import java.lang.foreign.MemorySegment;

/** The memory in which one thread decodes a column chunk: large buffers, which the next chunk uses again. */
final class DecodeBuffers implements AutoCloseable {

    /** A page as it is stored, and decompressed. */
    final NativeBuffer stored = new NativeBuffer();
    final NativeBuffer decoded = new NativeBuffer();
    /** The decoded values of a chunk, where each row begins, whether it has a value, and what must be converted. */
    final NativeBuffer values = new NativeBuffer();
    final NativeBuffer offsets = new NativeBuffer();
    final NativeBuffer states = new NativeBuffer();
    final NativeBuffer scratch = new NativeBuffer();
    /** The levels of a tile, the ends of its values, and the indices of a dictionary or the runs of it. */
    final int[] definitions = new int[Numbers.TILE];
    final int[] repetitions = new int[Numbers.TILE];
    final long[] ends = new long[Numbers.TILE];
    final int[] indices = new int[Numbers.TILE];
    private final NativeBuffer copied = new NativeBuffer();
    private final SpanReader fetching = new SpanReader(ReadMode.AUTO);
    private final SpanReader reading = new SpanReader(ReadMode.PREAD);
    private final Span span = new Span();

    /** Forgets what the buffers have. */
    DecodeBuffers empty() {
        values.truncate(0);
        offsets.truncate(0);
        states.truncate(0);
        scratch.truncate(0);
        return this;
    }

    /** Reads bytes of a file, with undefined ones behind them; a remote file fetches them. */
    MemorySegment copied(MappedFile file, long offset, long bytes, long slackBytes) {
        copied.truncate(0);
        copied.reserve(bytes + slackBytes);
        span.set(file, offset, bytes);
        SpanReader by = file.isRemote() ? fetching : reading;
        by.copy(span, copied.segment(), 0);
        return copied.segment().asSlice(0, bytes + slackBytes);
    }

    /** Returns the bytes of memory that it takes. */
    long byteSize() {
        return stored.capacity() + decoded.capacity() + values.capacity() + offsets.capacity() + states.capacity()
                + scratch.capacity() + copied.capacity();
    }

    @Override
    public void close() {
        stored.close();
        decoded.close();
        values.close();
        offsets.close();
        states.close();
        scratch.close();
        copied.close();
        fetching.close();
        reading.close();
    }
}
