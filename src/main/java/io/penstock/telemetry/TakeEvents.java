package io.penstock.telemetry;

/** The trainer thread's JFR events. Confined to that thread, except {@link #closed}. */
final class TakeEvents implements AutoCloseable {

    private final String loader;
    private final SlotLevels slots;
    private final Accounts accounts;
    private final Runnable firstRecording;
    private boolean toldFirst;
    /** Null before the first recording; created at once if there is one, because loading the class takes time. */
    private ConsumerWaitEvent wait = Recorder.isUsed() ? new ConsumerWaitEvent() : null;
    private StepEvent step = Recorder.isUsed() ? new StepEvent() : null;
    private boolean waits;
    private volatile boolean inStep;
    /** The thread whose step it is. */
    private Thread taker;
    private long stepBatch;
    private long requestedAt;
    private long stepNanos;

    /** The action runs when a recording first starts. */
    TakeEvents(String loader, SlotLevels slots, Accounts accounts, Runnable firstRecording) {
        this.loader = loader;
        this.slots = slots;
        this.accounts = accounts;
        this.firstRecording = firstRecording;
    }

    /** The trainer asks for a batch, which ends its previous step. */
    void requested(long batch, EpochBounds epochs) {
        if (!Recorder.isUsed()) {
            return;
        }
        if (!toldFirst) {
            toldFirst = true;
            wait = wait == null ? new ConsumerWaitEvent() : wait;
            step = step == null ? new StepEvent() : step;
            firstRecording.run();
        }
        if (inStep) {                                   // the time since belongs to it if the epoch continues
            endStep(batch == stepBatch + 1 && !epochs.isFirst(batch));
        }
        if (step.isEnabled()) {
            beginStep(batch);
        }
        waits = wait.isEnabled();
        if (waits) {
            wait.begin();
        }
    }

    /** The wait ended with a batch. */
    void taken(long batch) {
        if (waits) {
            waits = false;
            wait.end();
            if (wait.shouldCommit()) {
                wait.loader = loader;
                wait.batch = batch;
                wait.filledSlots = slots.size() - slots.empty();
                wait.commit();
            }
        }
    }

    /** The wait ended without a batch. */
    void notTaken() {
        inStep = false;
        waits = false;
    }

    /** Any thread returned a batch. */
    void closed(long batch) {
        if (inStep && taker == Thread.currentThread() && batch == stepBatch) {
            step.end();
            stepNanos = System.nanoTime() - requestedAt;
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
        BatchAccount account = accounts.account(stepBatch);
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
    }
}
