package io.penstock.loader;

import io.penstock.loader.WorkerClocks.Total;
import io.penstock.store.integrity.VerifiedReads;
import java.util.ArrayList;
import java.util.List;

/** The running totals of a loader. What the trainer was given is counted by its thread; any thread may ask for all. */
final class LoaderTotals {

    /** Where the time went that the trainer's thread fills for. */
    private final WorkerClocks trainer = new WorkerClocks();
    private final List<WorkerClocks> fillers = new ArrayList<>(List.of(trainer));
    private final VerifiedReads verified;
    private final boolean inline;
    private volatile Delivery delivery;
    private final Counter batches = new Counter();
    private final Counter samples = new Counter();
    private final Counter badSamples = new Counter();
    private final Counter consumerWaitNanos = new Counter();

    /**
     * Totals of nothing yet.
     *
     * @param verified what workers have checked; null if they take bytes as they are
     * @param inline whether the trainer's thread fills all, which is no help
     */
    LoaderTotals(VerifiedReads verified, boolean inline) {
        this.verified = verified;
        this.inline = inline;
    }

    /** What counts the time of copies. Called once, while the loader is opened. */
    void connect(Delivery copies) {
        delivery = copies;
    }

    /** The clocks of the trainer's thread. */
    WorkerClocks trainer() {
        return trainer;
    }

    /** The clocks of one more worker. Called while the loader is opened. */
    WorkerClocks worker() {
        var clocks = new WorkerClocks();
        fillers.add(clocks);
        return clocks;
    }

    void given(int count, int replaced) {
        batches.add(1);
        samples.add(count);
        if (replaced > 0) {
            badSamples.add(replaced);
        }
    }

    void waited(long nanos) {
        consumerWaitNanos.add(nanos);
    }

    LoaderReport report() {
        return new LoaderReport(batches.get(), samples.get(), sum(Total.BYTES), sum(Total.PLAN_NANOS),
                sum(Total.COLLATE_NANOS), sum(Total.SLOT_WAIT_NANOS), delivery.submitNanos(), consumerWaitNanos.get(),
                inline ? 0 : trainer.fillNanos(), badSamples.get(), verified == null ? 0 : verified.verifiedBytes());
    }

    private long sum(Total which) {
        return fillers.stream().mapToLong(clocks -> clocks.get(which)).sum();
    }
}
