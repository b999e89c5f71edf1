// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.internal.Opened;
import io.penstock.telemetry.recording.DeviceTimes;
import io.penstock.telemetry.recording.LoaderProbe;
import org.jspecify.annotations.Nullable;

/**
 * Tells by the device's clock how long copies, stages, the trainer's waits and its work took, and its marked phases. It
 * never waits and asks for nothing: a batch's events are read when they are known to be complete.
 *
 * <p>That is when the copy of the next batch in its device slot has ended, which was ordered behind all work on the
 * batch. Until then the events are the batch's own:
 *
 * <pre>
 *   free ──submit n──▶ of slot d ──submit m, the next in d──▶ behind m ──m's copy has ended: read──▶ last ──▶ free
 * </pre>
 *
 * <p>The batch that was read last keeps its events until the next is read: a step is the time between two batches.
 *
 * <p>Used by the copy thread alone.
 */
final class DeviceClock {

    private final TimedBatch[] free;
    private int freeCount;
    /** For each host slot whose copy is in flight: the batch that was in the copy's device slot before. */
    private final @Nullable TimedBatch[] before;
    private @Nullable TimedBatch last;
    private final LoaderProbe probe;
    private final DeviceTimes times = new DeviceTimes();

    /** Opens events for the batches in device slots, those before them while copies are in flight, and the last. */
    DeviceClock(Device device, int hostSlots, int deviceSlots, LoaderProbe probe, Opened opened) {
        this.free = new TimedBatch[hostSlots + deviceSlots + 1];
        this.before = new TimedBatch[hostSlots];
        this.probe = probe;
        while (freeCount < free.length) {
            free[freeCount++] = new TimedBatch(device, opened);
        }
    }

    /** Gives the batch that is about to be copied its events, and keeps those of the batch before it in the slot. */
    TimedBatch begin(DeviceSlot slot) {
        before[index(slot.sequence)] = slot.timed;
        TimedBatch batch = free[--freeCount];
        batch.begin(slot.sequence);
        slot.timed = batch;
        slot.ready = batch.ready;
        slot.used[0] = batch.used;
        return batch;
    }

    /** The copy of a batch has ended: reads the times of the batch that was in its device slot before. */
    void copied(long sequence) {
        TimedBatch batch = before[index(sequence)];
        if (batch != null) {
            before[index(sequence)] = null;
            read(batch);
            if (last != null) {
                free[freeCount++] = last;
            }
            last = batch;
        }
    }

    private int index(long sequence) {
        return (int) (sequence % before.length);
    }

    private void read(TimedBatch batch) {
        times.sequence = batch.sequence;
        times.copyNanos = batch.copied.nanosSince(batch.begin);
        times.stageNanos = batch.ready.nanosSince(batch.copied);
        times.withoutStream();
        if (batch.wasAsked) {
            times.lateNanos = batch.begin.nanosSince(batch.asked);
            times.exposedNanos = batch.ready.nanosSince(batch.asked);
            times.computeNanos = Math.max(0, batch.used.nanosSince(batch.asked) - times.exposedNanos);
            TimedBatch previous = last;
            if (previous != null && previous.wasAsked && previous.sequence == batch.sequence - 1) {
                times.previousStepNanos = batch.asked.nanosSince(previous.asked);
            }
            times.isMarked = batch.readPhases(times.phaseNanos);
        }
        probe.clocked(times);
    }
}
