// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.Samples;
import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The state shared by the {@linkplain FieldReader readers of a dataset's fields}: the current sample, the span reader,
 * and error messages. For one thread, except {@link #stop}.
 */
final class ReadContext implements AutoCloseable {

    /** The position of a sample read outside any order. */
    private static final long NOWHERE = -1;
    /** The epoch of such a sample. */
    private static final long NO_EPOCH = -1;

    final SpanReader reader;
    final StageClock clock;
    private final Samples samples;
    /** Verifies blocks before they are read; null to skip that. */
    private final @Nullable BlockVerifier verifier;
    private final List<FieldReader> fields = new ArrayList<>();
    private final List<GeneratedRows> generated = new ArrayList<>();
    private SampleRandom random = SampleRandom.NONE;
    private long sample = -1;
    private int row;
    private int rows = 1;
    private long position = NOWHERE;
    private long epoch = NO_EPOCH;
    private long lastLook = NO_EPOCH;
    private volatile boolean stopped;

    ReadContext(Samples samples, ReadMode mode, @Nullable VerifiedReads verified, StageClock clock) {
        this.samples = samples;
        this.clock = clock;
        this.reader = new SpanReader(mode);
        this.verifier = verified == null ? null : new BlockVerifier(verified, reader);
    }

    void at(BatchPlan plan, int row) {
        sample = plan.sample(row);
        this.row = row;
        rows = plan.count();
        position = plan.position(row);
        epoch = plan.epoch();
    }

    void at(long sample) {
        at(sample, NOWHERE, NO_EPOCH);
    }

    /** Sets the current sample and its position in the epoch of the random numbers. */
    void at(long sample, long position, long epoch) {
        this.sample = sample;
        this.row = 0;
        this.rows = 1;
        this.position = position;
        this.epoch = epoch;
    }

    /** Returns a unique epoch for one read of a sample. */
    long newLook() {
        return --lastLook;
    }

    /** Sets only the sample that errors name. */
    void about(long sample) {
        this.sample = sample;
    }

    long sample() {
        return sample;
    }

    /** Returns the sample's row in the current batch; 0 outside batches. */
    int row() {
        return row;
    }

    /** Returns the rows of that batch. */
    int rows() {
        return rows;
    }

    long position() {
        return position;
    }

    /** Returns the epoch; outside batches, a unique negative number. */
    long epoch() {
        return epoch;
    }

    void random(SampleRandom random) {
        this.random = random;
        generated.forEach(GeneratedRows::forget);
    }

    /** Returns the random numbers of a step for the sample. */
    RandomGenerator chance(long step) {
        return (position == NOWHERE ? SampleRandom.NONE : random).of(position, step);
    }

    /** Returns the random numbers of a step for a batch. */
    RandomGenerator chance(BatchPlan plan, long step) {
        return random.of(plan.firstPosition(), step);
    }

    /** Returns a generator's rows, shared by the readers of all its fields. */
    GeneratedRows rows(FieldSource.Generated source) {
        for (GeneratedRows rows : generated) {
            if (rows.isOf(source)) {
                return rows;
            }
        }
        GeneratedRows rows = new GeneratedRows(source, this);
        generated.add(rows);
        return rows;
    }

    void stop() {
        stopped = true;
    }

    void resume() {
        stopped = false;
    }

    boolean isStopped() {
        return stopped;
    }

    void checkWanted() {
        if (stopped) {
            throw new CancellationException("sample " + sample + " is not wanted any more");
        }
    }

    /** Locates and verifies a sample's stored bytes. */
    void locate(FieldSource.Place place, long sample, Span into) {
        try {
            place.locate(sample, into);
            verify(into);
        } catch (MalformedStoreException e) {
            throw bad(e);
        }
    }

    /** Locates and verifies a part of a sample's stored bytes. */
    void locate(FieldSource.PartPlace place, long sample, int part, Span into) {
        try {
            place.locate(sample, part, into);
            verify(into);
        } catch (MalformedStoreException e) {
            throw bad(e);
        }
    }

    void verify(Span located) {
        if (verifier != null) {
            verifier.check(located);
        }
    }

    boolean verifies() {
        return verifier != null;
    }

    /** Checks a dataset's sizes: an error there must not corrupt another row. */
    void checkSize(long found, TensorSpec spec, long expected) {
        boolean fits = found == expected || spec.isVariable() && expected > 0 && found % expected == 0;
        if (!fits) {
            throw new IllegalStateException("sample " + sample + " has " + found + " bytes of " + spec + ", expected "
                    + (spec.isVariable() ? "a multiple of " : "") + expected);
        }
    }

    /** Returns the error for stored bytes that are malformed; a failure to read them may pass on a retry. */
    BadSampleException bad(MalformedStoreException e) {
        return new BadSampleException(sample, e);
    }

    /** Returns the error for a value that cannot be decoded or computed. */
    RuntimeException bad(@Nullable TensorSpec spec, Exception cause) {
        IOException named = new IOException(about(spec) + ": " + cause.getMessage(), cause);
        return cause instanceof LibraryException ? new UncheckedIOException(named)
                : new BadSampleException(sample, named);
    }

    /** Returns the error for failed user code. */
    IllegalStateException failed(@Nullable TensorSpec spec, String what, RuntimeException e) {
        return new IllegalStateException(about(spec) + ": the " + what + " failed: " + e, e);
    }

    private String about(@Nullable TensorSpec spec) {
        return samples.name(sample) + (spec == null ? "" : ", field '" + spec.name() + "'");
    }

    void closeWithThis(FieldReader field) {
        fields.add(field);
    }

    @Override
    public void close() {
        fields.reversed().forEach(FieldReader::close);
        generated.forEach(GeneratedRows::close);
        if (verifier != null) {
            verifier.close();
        }
        reader.close();
    }
}
