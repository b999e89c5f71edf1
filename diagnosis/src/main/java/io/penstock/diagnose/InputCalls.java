// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Collections;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Input that is asked for by calls of a method, such as {@code next()}: a step lasts from one call that gives input to
 * the next one, and the time within calls is the wait. Calls of {@code hasNext()} before it count to the same wait.
 * For callers that cannot be given a {@link DiagnosedInput}, such as those that an agent finds.
 *
 * <p><b>Threads.</b> The first thread that calls is the trainer; calls of other threads do not count. A call within a
 * call does not count either. Any thread may ask for a summary.
 */
public final class InputCalls implements AutoCloseable {

    private final DiagnosedInput<Object> input;
    private volatile @Nullable Thread trainer;
    /** Of the trainer's thread, like the next three. */
    private boolean inside;
    private long began;
    private boolean first = true;

    InputCalls(String name, LongSupplier clock) {
        input = new DiagnosedInput<Object>(Collections::emptyIterator, clock).named(name);
        input.beginEpoch();
    }

    private boolean isTrainer() {
        Thread mine = Thread.currentThread();
        if (trainer == null) {
            synchronized (this) {
                if (trainer == null) {
                    trainer = mine;
                }
            }
        }
        return trainer == mine;
    }

    /** A call begins. If the call before ended by an exception, this goes on with its wait. */
    public void begin() {
        if (isTrainer() && !inside) {
            inside = true;
            began = input.ask();
        }
    }

    /** The call returns the input of a step. */
    public void given() {
        if (isTrainer() && inside) {
            inside = false;
            input.answered(began, false);
            input.beginStep(1, first);
            first = false;
        }
    }

    /** The call says that there is more input, as {@code hasNext()} does. */
    public void more() {
        if (isTrainer() && inside) {
            inside = false;
            input.answered(began, true);
        }
    }

    /** The call says that the epoch is over. */
    public void over() {
        if (isTrainer() && inside) {
            inside = false;
            input.answered(began, false);
            if (!first) {
                first = true;
                input.beginEpoch();
            }
        }
    }

    /** {@return a diagnosis of the complete steps so far} */
    public Summary summary() {
        return input.summary();
    }

    /** Stops listening to the garbage collectors. Repeating it has no effect. */
    @Override
    public void close() {
        input.close();
    }
}
