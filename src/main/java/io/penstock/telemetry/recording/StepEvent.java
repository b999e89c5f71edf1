// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;
import jdk.jfr.Timespan;

/** A step of the trainer: from its request for a batch to its next one. */
@Name("penstock.Step")
@Label("Step")
@Description("From the request for a batch to the next one; at the end of an epoch, until the batch was closed")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Throttle("2000/s")
final class StepEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    long batch;

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
