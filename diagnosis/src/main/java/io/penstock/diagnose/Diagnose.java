// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Iterator;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Diagnoses the input of any library, such as a DJL dataset or your own iterator: step times and verdicts.
 *
 * {@snippet id=Djl :
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
 * <p>The inside of such input is not visible: a summary has verdicts on the step, but no causes. Diagnose this
 * library's loaders with {@link Diagnosis}, which knows the causes.
 */
public final class Diagnose {

    private Diagnose() {
    }

    /**
     * Wraps input from an iterator.
     *
     * @param <T> the input of a step
     * @param source returns the input of one step after another
     * @return the same input, timed; it can be iterated once
     */
    public static <T> DiagnosedInput<T> wrap(Iterator<? extends T> source) {
        var taken = new AtomicBoolean();
        return new DiagnosedInput<>(() -> {
            if (taken.getAndSet(true)) {
                throw new IllegalStateException("an iterator can be iterated only once: wrap an Iterable for several"
                        + " epochs");
            }
            return source;
        }, System::nanoTime);
    }

    /**
     * Wraps input that comes in epochs.
     *
     * @param <T> the input of a step
     * @param source each of its iterators is an epoch
     * @return the same input, timed
     */
    public static <T> DiagnosedInput<T> wrap(Iterable<? extends T> source) {
        return new DiagnosedInput<>(source::iterator, System::nanoTime);
    }

    /**
     * Times input that is asked for by calls of a method, of which only begin and end are seen.
     *
     * @param name the name of the input in its summary
     * @return told of each call; closed by the caller
     */
    public static InputCalls calls(String name) {
        return new InputCalls(name, System::nanoTime);
    }

    /**
     * Wraps input from a stream.
     *
     * @param <T> the input of a step
     * @param source a sequential stream, which the caller closes
     * @return the same input, timed; it can be iterated once
     */
    public static <T> DiagnosedInput<T> wrap(Stream<? extends T> source) {
        return wrap(source.iterator());
    }
}
