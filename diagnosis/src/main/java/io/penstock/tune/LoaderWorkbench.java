// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.loader.LoaderMemory;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Measures loaders, opening one per round. A round continues the epoch where the previous round ended, whatever its
 * setting, so that no setting reads data again that it has just read.
 *
 * <p>A {@link StandInTrainer} takes the batches. The first batches in new slots, up to a third of the round, are not
 * counted.
 */
public final class LoaderWorkbench implements Workbench {

    private static final int UNCOUNTED_SHARE = 3;

    private final LoaderSource source;
    private final @Nullable PageCache dropped;
    private @Nullable LoaderMemory least;
    private int leastPrefetch;
    private @Nullable LoaderState state;

    /**
     * Creates a workbench.
     *
     * @param source opens the loaders
     * @param dropped files whose pages are dropped from the page cache before each round; null to leave them. The
     *     source must then reopen its store each time: mapped pages cannot be dropped
     */
    public LoaderWorkbench(LoaderSource source, @Nullable PageCache dropped) {
        this.source = Objects.requireNonNull(source, "source");
        this.dropped = dropped;
    }

    /** The memory of the loader with the fewest slots, which gives the size of a slot. */
    private LoaderMemory least() {
        if (least == null) {
            leastPrefetch = 1;
            try (LoaderSource.Opened opened = source.open();
                    DataLoader loader = opened.builder().workers(0).prefetch(1).deviceSlots(2).open()) {
                least = loader.memory();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return least;
    }

    /** {@return whether batches are copied to a device, which then has its own slots, instead of lent in place} */
    public boolean copies() {
        return least().deviceSlots() > 0;
    }

    /** {@return the bytes of a slot} */
    public long slabBytes() {
        return least().slabBytes();
    }

    @Override
    public long memoryBytes(SearchPoint candidate) {
        LoaderMemory one = least();
        long hostSlots = one.hostSlots() + (long) candidate.prefetch() - leastPrefetch
                + Math.max(1, candidate.workers()) - 1;
        return one.slabBytes() * (hostSlots + (one.deviceSlots() == 0 ? 0 : candidate.deviceSlots()));
    }

    @Override
    public Round measure(SearchPoint candidate, long nanos, long stepNanos) throws InterruptedException, IOException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted");
        }
        if (dropped != null) {
            dropped.drop();
        }
        try (LoaderSource.Opened opened = source.open()) {
            DataLoaderBuilder builder = opened.builder().settings(candidate.settings(""));
            if (state != null) {
                builder.resume(state);
            }
            try (DataLoader loader = builder.open()) {
                Round round = run(loader, nanos, stepNanos);
                state = loader.hasNext() ? loader.state() : null;
                return round;
            }
        } catch (LoaderInterruptedException e) {
            Thread.interrupted();
            InterruptedException interrupted = new InterruptedException("interrupted");
            interrupted.initCause(e);
            throw interrupted;
        }
    }

    private Round run(DataLoader loader, long nanos, long stepNanos) {
        var trainer = new StandInTrainer(loader, loader::next, stepNanos);
        long begin = System.nanoTime();
        int slots = loader.memory().hostSlots() + loader.memory().deviceSlots();
        for (int taken = 0; taken < slots && loader.hasNext()
                && System.nanoTime() - begin < nanos / UNCOUNTED_SHARE; taken++) {
            trainer.step();
        }
        long samples = 0;
        long steps = 0;
        long wait = 0;
        begin = System.nanoTime();
        long now = begin;
        while ((steps == 0 || now - begin < nanos) && loader.hasNext()) {
            trainer.step();
            wait += trainer.waitNanos();
            samples += trainer.samples();
            steps++;
            now = System.nanoTime();
        }
        return new Round(samples, steps, Math.max(1, now - begin), wait);
    }
}
