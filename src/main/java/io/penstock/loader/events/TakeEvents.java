package io.penstock.loader.events;

import io.penstock.device.nvtx.NvtxRange;
import io.penstock.loader.BatchAccount;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.LongFunction;

/** What the trainer's thread tells as it takes batches. Of that thread, but for {@link #closed}. */
public final class TakeEvents implements AutoCloseable {

    private final String loader;
    private final IntSupplier filledSlots;
    private final LongFunction<BatchAccount> accounts;
    private final Runnable firstRecording;
    /** Null if no tool listens, and so are the ranges of the batches that are out. */
    private final NvtxRange next = NvtxRange.of("next");
    private final NvtxRange hold = NvtxRange.of("hold");
    private final Map<Long, Long> held = hold == null ? null : new ConcurrentHashMap<>();
    private boolean pushed;
    private boolean toldFirst;
    /** Null before the first recording; made at once if there is one, since a class takes its time to load. */
    private ConsumerWaitEvent wait = Recorder.isUsed() ? new ConsumerWaitEvent() : null;
    private StepEvent step = Recorder.isUsed() ? new StepEvent() : null;
    private boolean waits;
    private volatile boolean inStep;
    /** Whose step it is. */
    private Thread taker;
    private long stepBatch;
    private long requestedAt;
    private long stepNanos;

    /**
     * For one loader.
     *
     * @param loader the loader's name
     * @param filledSlots how many slots have a batch in them that is made
     * @param accounts a batch's account when it is complete, null until then
     * @param firstRecording what to do when there is a recording for the first time
     */
    public TakeEvents(String loader, IntSupplier filledSlots, LongFunction<BatchAccount> accounts,
            Runnable firstRecording) {
        this.loader = loader;
        this.filledSlots = filledSlots;
        this.accounts = accounts;
        this.firstRecording = firstRecording;
    }

    /**
     * Whether there may be anybody to tell of a request.
     *
     * @return false as long as no tool listens and this JVM has not made a recording
     */
    public boolean isWatched() {
        return next != null || Recorder.isUsed();
    }

    /**
     * The trainer asks for a batch: its step before is over.
     *
     * @param batch the batch
     * @param goesOn whether it follows the one before in the same epoch, so that what was done since belongs to that
     *     one's step
     */
    public void requests(long batch, boolean goesOn) {
        if (Recorder.isUsed()) {
            if (!toldFirst) {
                toldFirst = true;
                wait = wait == null ? new ConsumerWaitEvent() : wait;
                step = step == null ? new StepEvent() : step;
                firstRecording.run();
            }
            if (inStep) {
                endStep(goesOn && batch == stepBatch + 1);
            }
            if (step.isEnabled()) {
                beginStep(batch);
            }
            waits = wait.isEnabled();
            if (waits) {
                wait.begin();
            }
        }
        if (next != null) {
            next.push(batch);
            pushed = true;
        }
    }

    /**
     * The wait is over.
     *
     * @param batch the batch that was asked for; less than 0 if there is none
     */
    public void taken(long batch) {
        if (pushed) {
            pushed = false;
            next.pop();
            if (batch >= 0) {
                held.put(batch, hold.start(batch));
            }
        }
        if (batch < 0 && inStep) {
            inStep = false;
        }
        if (waits) {
            waits = false;
            wait.end();
            if (batch >= 0 && wait.shouldCommit()) {
                wait.loader = loader;
                wait.batch = batch;
                wait.filledSlots = filledSlots.getAsInt();
                wait.commit();
            }
        }
    }

    /**
     * A batch is given back, by whatever thread.
     *
     * @param batch the batch
     */
    public void closed(long batch) {
        if (inStep && taker == Thread.currentThread() && batch == stepBatch) {
            step.end();
            stepNanos = System.nanoTime() - requestedAt;
        }
        if (held != null) {
            Long range = held.remove(batch);
            if (range != null) {
                hold.end(range);
            }
        }
    }

    private void beginStep(long batch) {
        taker = Thread.currentThread();
        stepBatch = batch;
        requestedAt = System.nanoTime();
        stepNanos = 0;
        step.begin();
        inStep = true;
    }

    private void endStep(boolean goesOn) {
        inStep = false;
        if (goesOn) {
            step.end();
            stepNanos = System.nanoTime() - requestedAt;
        }
        BatchAccount account = accounts.apply(stepBatch);
        if (account != null && stepNanos > 0 && step.shouldCommit()) {
            long waited = account.taking().waitNanos();
            long computed = Math.max(0, Math.min(account.taking().computeOrHeldNanos(), stepNanos - waited));
            step.loader = loader;
            step.batch = stepBatch;
            step.epoch = account.epoch();
            step.first = account.first();
            step.samples = account.samples();
            step.waitTime = waited;
            step.computeTime = computed;
            step.residualTime = Math.max(0, stepNanos - waited - computed);
            step.copyTime = account.copying() == null || account.copying().nanos() < 0 ? FillEvents.NOT_MEASURED
                    : account.copying().nanos();
            step.waitedFor = Path.longest(account);
            step.commit();
        }
    }

    /** The loader is closed. */
    @Override
    public void close() {
        if (inStep && taker == Thread.currentThread()) {
            endStep(false);
        }
        if (next != null) {
            next.close();
            hold.close();
        }
    }
}
