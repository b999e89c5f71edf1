// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The fill level of a loader, periodically. */
@Name("penstock.Queue")
@Label("Queue")
@Description("The fill level of a loader's slots, and the batches it delivered since the last such event")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Period("1 s")
final class QueueEvent extends Event {

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
