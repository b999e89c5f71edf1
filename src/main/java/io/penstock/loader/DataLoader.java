// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Feedback;
import io.penstock.state.LoaderState;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Delivers the batches of a dataset in order. Worker threads make them ahead of the trainer, and they are copied to a
 * device.
 *
 * <pre>{@code
 * try (TokenStore store = TokenStore.open(Path.of("corpus"));
 *      DataLoader loader = DataLoader.builder(TokenWindows.of(store, 1024)).batchSize(32).shuffle(42).open()) {
 *     for (Batch batch : loader.epoch()) {
 *         try (batch) {
 *             step(batch.tensor("tokens"));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p><b>Order.</b> Batches come in the sampler's order; the number of workers changes neither order nor bytes. There
 * are three ways to take them: {@link #epoch()} for a loop over an epoch, {@link #stream()} for all of them,
 * {@link #next()} for a trainer's own loop. They can be mixed; each continues at the loader's position.
 *
 * <p><b>Threads.</b> One thread at a time takes batches and moves the loader; a second one gets an
 * {@link IllegalStateException} that names the first. Any thread may {@link #close} it. The workers and the copy thread
 * belong to the loader and bear its name.
 *
 * <p><b>Memory.</b> All memory is allocated at open, see {@link #memory()}, and freed by {@link #close}. When all slots
 * are full, the workers wait. Closing the loader logs each batch that is still open: one of the closing thread is
 * closed; the memory of any other stays until that batch is closed and its DLPack tensors are deleted.
 *
 * <p><b>Errors.</b> If a sample cannot be read, the call for its batch throws {@link BatchException}, and the next call
 * continues with the following batch. A damaged sample can be replaced or skipped instead:
 * {@link DataLoaderBuilder#onBadSample}. A device error ends the loader: every later call throws
 * {@link IllegalStateException} with that cause.
 */
public final class DataLoader extends DeviceLoader implements AutoCloseable {

    /** The purpose of a loader's batches. Each has its own diagnosis. */
    public enum Role {
        /** Training. */
        TRAIN,
        /** Evaluation between training steps. */
        VALIDATION
    }

    private DataLoader(DataLoaderBuilder settings, LoaderParts parts, SharedWorkers sharedWorkers) {
        super(settings, parts, sharedWorkers);
    }

    static DataLoader open(DataLoaderBuilder settings) {
        return open(settings, DataLoader::new).getFirst();
    }

    /**
     * {@return a builder with all settings at their defaults}
     *
     * @param dataset the dataset to load
     * @throws IllegalArgumentException if the dataset has no samples
     */
    public static DataLoaderBuilder builder(Dataset dataset) {
        return new DataLoaderBuilder(dataset);
    }

    /**
     * Iterates over all batches of an epoch. Moves the loader to its start unless it is there.
     *
     * @param epoch the epoch, from 0
     * @return batches, each to be closed by the caller; can be iterated once; empty if the epoch has none
     */
    public Iterable<Batch> epoch(long epoch) {
        enter();
        try {
            LoaderState here = state();
            if (here.epoch() != epoch || here.position() != 0) {
                moveTo(batches -> batches.startingAt(epoch, 0));
            }
            return restOf(epoch);
        } finally {
            leave();
        }
    }

    /**
     * Moves the loader to the start of an epoch and drops the batches made ahead; open batches stay valid. Waits until
     * the workers have ended their current work, and interrupts them after the loader's
     * {@linkplain DataLoaderBuilder#patience patience}.
     *
     * @param epoch the epoch, from 0
     * @throws IllegalArgumentException if the order has no such epoch
     * @throws IllegalStateException if a worker does not end after twice that time: the loader has then failed
     */
    public void seek(long epoch) {
        move(batches -> batches.startingAt(epoch, 0));
    }

    /**
     * Moves the loader to the position of a state.
     *
     * @param state a state of this dataset and order
     * @throws io.penstock.state.StateMismatchException if it belongs to another
     */
    public void seek(LoaderState state) {
        move(batches -> state.resume(batches));
    }

    /**
     * Lets a rule change the weights of the mixture that this loader draws from, by numbers that the trainer reports: a
     * {@link Feedback}. The change takes effect with the next batch, and the state has it, so runs that resume need no
     * numbers. Drops the batches made ahead: for every hundred steps or so, not for each.
     *
     * <p>Every rank must call this after the same step, with the same numbers: reduce them over the ranks first.
     *
     * @param rule the rule, the same on every rank
     * @param numbers one for each source, such as its mean loss
     * @return the weights from here on, one for each source
     * @throws IllegalArgumentException if the order is not a mixture of so many sources
     */
    public List<Double> report(Feedback rule, double... numbers) {
        enter();
        try {
            LoaderState here = state();
            BatchSampler batches = cursor().run().batches;
            LoaderState changed = here.edit(batches.edited(List.of())).feedback(rule, batches.weights(here.epoch(),
                    here.position()), numbers).state();
            moveTo(changed::resume);
            return ((Edit.Reweigh) changed.edits().getLast()).weights();
        } finally {
            leave();
        }
    }

    private void move(UnaryOperator<BatchSampler> to) {
        enter();
        try {
            moveTo(to);
        } finally {
            leave();
        }
    }

    private void moveTo(UnaryOperator<BatchSampler> to) {
        EpochCursor.move(sharedWorkers, List.of(cursor()), to);
    }

    /**
     * Stops the workers, each after its current sample, waits for copies in flight, and frees all memory. Any thread
     * may call this: one that waits in {@link #next()} gets an {@link IllegalStateException} at once. Calling it again
     * does nothing. If the loader has failed, errors here are added to that error.
     *
     * <p>User code that runs in a worker is interrupted. If a worker has not ended after the loader's
     * {@linkplain DataLoaderBuilder#patience patience}, the log names it, and its thread, a daemon, keeps all memory of
     * the loader until it ends. If its store is closed meanwhile, its reads throw.
     *
     * @throws RuntimeException if the device reports an error, or the loader has failed and no call has thrown that
     *     error yet; everything else is still freed
     */
    @Override
    public void close() {
        if (closes()) {
            sharedWorkers.close();
        }
    }
}
