// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.store.Progress;
import io.penstock.store.StreamedTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Copies located data from a store to a writer, through a MiB of native memory; reports progress and responds to
 * interrupts. Not thread-safe.
 */
final class Reading implements AutoCloseable {

    /** Bytes per piece: a multiple of every element size. */
    static final int STEP_BYTES = 1 << 20;

    private static final int REPORT_EVERY = 64;

    private final Progress progress;
    private final SpanReader reader = new SpanReader(ReadMode.AUTO);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment step = arena.allocate(STEP_BYTES, Long.BYTES);
    private final Span part = new Span();
    private final List<Consumer<InternalError>> others = new ArrayList<>();
    private long total;
    private long done;
    private int unreported;

    Reading(Progress progress) {
        this.progress = progress;
    }

    /** Sets the total, in the unit of {@link #advance}: bytes, or records. */
    void expect(long amount) {
        total = amount;
    }

    /** Copies a span in pieces of at most {@link #STEP_BYTES}; does not advance. */
    void copy(Span span, StreamedTensor.Sink out) throws IOException {
        for (long at = 0; at < span.byteSize(); ) {
            long bytes = Math.min(STEP_BYTES, span.byteSize() - at);
            part.setPart(span, at, bytes);
            reader.copy(part, step, 0);
            out.put(step, 0, bytes);
            at += bytes;
        }
    }

    /** Advances the progress; fails if the thread is interrupted. */
    void advance(long amount) throws ClosedByInterruptException {
        done += amount;
        if (amount >= STEP_BYTES || ++unreported >= REPORT_EVERY || done >= total) {
            unreported = 0;
            progress.update(done, total);
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new ClosedByInterruptException();
        }
    }

    /** Adds who else reads mapped files: it throws an error that names its file if that was truncated. */
    void onFault(Consumer<InternalError> other) {
        others.add(other);
    }

    /** Explains a fault under a mapping: throws an error that names the truncated file, or returns the fault. */
    InternalError explain(InternalError fault) {
        others.forEach(other -> other.accept(fault));
        return reader.explain(fault);
    }

    @Override
    public void close() {
        reader.close();
        arena.close();
    }
}
