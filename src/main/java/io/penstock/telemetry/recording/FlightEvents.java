// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Throttle;
import jdk.jfr.Timespan;

/** The events of the JDK's flight recorder. Their names and fields are public: programs read recordings by them. */
@SuppressWarnings("NullAway.Init") // every field is set before an event is committed
final class FlightEvents {

    private FlightEvents() {
    }

    /** What all events on a batch have. */
    @Category("Penstock")
    @StackTrace(false)
    abstract static class BatchEvent extends Event {

        @Label("Loader")
        String loader;

        @Label("Batch")
        @Description("The batch's number since the loader opened")
        long batch;

        /** Whether it has begun; not part of the event. */
        transient boolean begun;

        final void describe(String loaderName, long sequence) {
            loader = loaderName;
            batch = sequence;
        }
    }

    /** A worker made a batch, after planning it. JFR shows what was not measured as N/A. */
    @Name("penstock.Stage")
    @Label("Batch Stages")
    @Description("A worker read, decoded, transformed and collated the samples of a batch")
    @Throttle("2000/s")
    static final class StageEvent extends BatchEvent {

        @Label("Epoch")
        long epoch;

        @Label("Worker")
        int worker;

        @Label("Samples")
        int samples;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Plan Time")
        @Description("Determining the samples of the batch, before this event begins")
        @Timespan
        long planTime;

        @Label("Read Time")
        @Timespan
        long readTime;

        @Label("Decode Time")
        @Timespan
        long decodeTime;

        @Label("Transform Time")
        @Timespan
        long transformTime;

        @Label("Collate Time")
        @Description("The rest; for samples copied as stored, this includes reading")
        @Timespan
        long collateTime;

        @Label("CPU Time")
        @Description("CPU time of the thread; measured for only some of many small batches")
        @Timespan
        long cpuTime;

        @Label("Blocked Time")
        @Description("Time that the thread was blocked, waiting for storage, a lock or a core")
        @Timespan
        long blockedTime;

        @Label("Read From Storage")
        @DataAmount
        long storageBytes;
    }

    /** A worker waited for a free slot. */
    @Name("penstock.SlotWait")
    @Label("Slot Wait")
    @Description("A worker waited for a free slot: backpressure, unless the trainer waits too")
    @Threshold("50 us")
    static final class SlotWaitEvent extends BatchEvent {

        @Label("Worker")
        int worker;
    }

    /** A complete batch waited for an earlier one. */
    @Name("penstock.OrderWait")
    @Label("Order Wait")
    @Description("A batch was ready before an earlier one, and waited for its turn")
    @Threshold("50 us")
    static final class OrderWaitEvent extends BatchEvent {
    }

    /** A batch was copied to the device. */
    @Name("penstock.Transfer")
    @Label("Transfer")
    @Description("A batch was copied to the device: from enqueuing the copy until it was seen complete")
    @Throttle("2000/s")
    static final class TransferEvent extends BatchEvent {

        @Label("Device")
        String device;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Submit Time")
        @Description("Enqueuing only")
        @Timespan
        long submitTime;
    }

    /** The trainer waited for a batch. */
    @Name("penstock.ConsumerWait")
    @Label("Consumer Wait")
    @Description("The trainer's thread waited for a batch")
    @Threshold("50 us")
    static final class ConsumerWaitEvent extends BatchEvent {

        @Label("Filled Slots")
        @Description("Slots with a finished batch at the end of the wait, this batch included")
        int filledSlots;
    }

    /** A step of the trainer: from its request for a batch to its next one. */
    @Name("penstock.Step")
    @Label("Step")
    @Description("From the request for a batch to the next one; at the end of an epoch, until the batch was closed")
    @Throttle("2000/s")
    static final class StepEvent extends BatchEvent {

        @Label("Epoch")
        long epoch;

        @Label("First")
        @Description("Whether the batch is the first of its epoch, or the first since the loader was opened or moved")
        boolean first;

        @Label("Samples")
        int samples;

        @Label("Wait Time")
        @Description("The trainer's thread waited for the batch")
        @Timespan
        long waitTime;

        @Label("Compute Time")
        @Description("Time that the trainer marked, or else that it held the batch")
        @Timespan
        long computeTime;

        @Label("Residual Time")
        @Description("The rest of the step")
        @Timespan
        long residualTime;

        @Label("Copy Time")
        @Description("From enqueuing the copy to the device until it was seen complete")
        @Timespan
        long copyTime;

        @Label("Waited For")
        @Description("Where the batch was for most of the wait: start, slot, plan, make, copy or handover")
        String waitedFor;
    }

    /** The fill level of a loader, periodically. */
    @Name("penstock.Queue")
    @Label("Queue")
    @Description("The fill level of a loader's slots, and the batches it delivered since the last such event")
    @Category("Penstock")
    @StackTrace(false)
    @Period("1 s")
    static final class QueueEvent extends Event {

        @Label("Loader")
        String loader;

        @Label("Slots")
        int slots;

        @Label("Filled Slots")
        @Description("Slots with a finished batch: waiting, being copied, or lent")
        int filledSlots;

        @Label("Batches")
        @Description("Batches given to the trainer since the last event")
        long batches;

        @Label("Wait Time")
        @Description("Time that the trainer's thread waited for them")
        @Timespan
        long waitTime;
    }
}
