package io.penstock.diagnose;

import java.util.Iterator;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Step times and verdicts for input that any library delivers: a dataset of DJL, an iterator of one's own.
 *
 * {@snippet id=Djl :
 * import io.penstock.diagnose.DiagnosedInput.Phase;
 *
 * try (DiagnosedInput<Batch> input = Diagnose.wrap(trainer.iterateDataset(dataset)).named("djl")) {
 *     for (Batch batch : input) {
 *         input.begin(Phase.COMPUTE);
 *         EasyTrain.trainBatch(trainer, batch);
 *         trainer.step();
 *         input.end();
 *     }
 *     System.out.println(input.summary().text());
 * }
 * }
 *
 * <p>What such input waits for within is not seen: a summary of it has verdicts on the step, and no causes. A loader of
 * this library is diagnosed with {@link Diagnosis}, which knows them.
 */
public final class Diagnose {

    private Diagnose() {
    }

    /**
     * Input that comes from an iterator.
     *
     * @param <T> what a step takes
     * @param source gives the input of one step after another
     * @return the same input, watched; it may be iterated once
     */
    public static <T> DiagnosedInput<T> wrap(Iterator<? extends T> source) {
        var taken = new AtomicBoolean();
        return new DiagnosedInput<>(() -> {
            if (taken.getAndSet(true)) {
                throw new IllegalStateException("an iterator can be iterated once only: wrap an Iterable for several"
                        + " epochs");
            }
            return source;
        }, System::nanoTime);
    }

    /**
     * Input that comes in epochs.
     *
     * @param <T> what a step takes
     * @param source each of its iterators is an epoch
     * @return the same input, watched
     */
    public static <T> DiagnosedInput<T> wrap(Iterable<? extends T> source) {
        return new DiagnosedInput<>(source::iterator, System::nanoTime);
    }

    /**
     * Input that comes from a stream.
     *
     * @param <T> what a step takes
     * @param source a sequential stream, which the caller closes
     * @return the same input, watched; it may be iterated once
     */
    public static <T> DiagnosedInput<T> wrap(Stream<? extends T> source) {
        return wrap(source.iterator());
    }
}
