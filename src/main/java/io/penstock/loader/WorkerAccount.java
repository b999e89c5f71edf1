package io.penstock.loader;

import io.penstock.dataset.StageClock;
import io.penstock.loader.events.FillEvents;
import io.penstock.os.ThreadUsage;

/**
 * Keeps the accounts of the batches that one thread makes. The operating system is asked what the thread used where
 * that costs nothing beside the batch, and else for one batch in {@value #ASK_EVERY}.
 */
final class WorkerAccount {

    /** From this on, a batch takes a hundred times as long as asking. */
    static final long ASK_NANOS = 100_000;
    static final int ASK_EVERY = 16;

    /** From this on, it takes a hundred times as long as asking for how long the thread stood in a queue. */
    static final long ASK_QUEUE_NANOS = 400_000;

    private final Accounts accounts;
    private final int worker;
    private final StageClock stages;
    private final ThreadUsage usage = new ThreadUsage();
    final String loader;
    final FillEvents events;
    private final boolean asks;
    private boolean keeps;
    private boolean asked;
    private int notAsked = ASK_EVERY;
    private long lastNanos;
    private long cpuNanos;
    private long diskBytes;
    private long majorFaults;
    private long voluntarySwitches;
    private long involuntarySwitches;
    private long queuedNanos;

    /**
     * For one thread.
     *
     * @param loader the loader's name
     * @param worker the thread's number
     * @param stages what its reader clocks
     * @param onMachineTime whether accounts are kept by the clock of the operating system, which else is not asked
     */
    WorkerAccount(Accounts accounts, String loader, int worker, StageClock stages, boolean onMachineTime) {
        this.accounts = accounts;
        this.worker = worker;
        this.stages = stages;
        this.asks = onMachineTime && ThreadUsage.AVAILABLE;
        this.loader = loader;
        this.events = new FillEvents(loader, worker);
    }

    /** Samples are about to be read. */
    void begin(long sequence) {
        keeps = accounts.keeps(sequence);
        stages.reset();
        asked = keeps && asks && (lastNanos >= ASK_NANOS || ++notAsked >= ASK_EVERY);
        if (asked) {
            notAsked = 0;
            usage.read();
            cpuNanos = usage.cpuNanos();
            diskBytes = usage.diskBytes();
            majorFaults = usage.majorFaults();
            voluntarySwitches = usage.voluntarySwitches();
            involuntarySwitches = usage.involuntarySwitches();
            queuedNanos = lastNanos >= ASK_QUEUE_NANOS ? usage.queuedNanos() : BatchAccount.NOT_MEASURED;
        }
        events.begins(sequence);
    }

    /** The batch is whole, and not yet published. */
    void made(Run run, long sequence, HostSlot slot, long claimed, long free, long planned, long made) {
        if (asked) {
            usage.read();
        }
        if (events.ends(sequence)) {
            events.made(slot.plan.epoch(), slot.plan.count(), slot.slab.table().usedBytes(), planned - free,
                    stages.readNanos(), stages.decodeNanos(), stages.transformNanos(), made - planned,
                    asked ? usage.cpuNanos() - cpuNanos : BatchAccount.NOT_MEASURED, usage.diskBytes() - diskBytes);
        }
        if (!keeps) {
            return;
        }
        int row = accounts.making(sequence, claimed, free, planned, made);
        accounts.stages(row, stages.readNanos(), stages.decodeNanos(), stages.transformNanos());
        if (asked) {
            accounts.usage(row, usage.cpuNanos() - cpuNanos, usage.diskBytes() - diskBytes,
                    usage.majorFaults() - majorFaults, usage.voluntarySwitches() - voluntarySwitches,
                    usage.involuntarySwitches() - involuntarySwitches,
                    queuedNanos < 0 ? BatchAccount.NOT_MEASURED : usage.queuedNanos() - queuedNanos);
        } else {
            accounts.noUsage(row);
        }
        accounts.made(row, sequence, worker, slot.plan.count(), slot.slab.table().usedBytes(), slot.plan.epoch(),
                sequence == run.base || slot.plan.indexInEpoch() == 0);
        asked = false;
        lastNanos = made - planned;
    }

    void close() {
        events.close();
        usage.close();
    }
}
