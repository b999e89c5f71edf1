package io.penstock.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** How full a loader is, now and then. */
@Name("penstock.Queue")
@Label("Queue")
@Description("How full a loader's slots are, and what it gave since the last such event")
@Category("Penstock")
@StackTrace(false)
@Period("1 s")
final class QueueEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Slots")
    int slots;

    @Label("Filled Slots")
    @Description("Slots with a batch in them that is made: it waits, is being copied, or is lent")
    int filledSlots;

    @Label("Batches")
    @Description("Batches given to the trainer since the last event")
    long batches;

    @Label("Wait Time")
    @Description("What the trainer's thread waited for them")
    @Timespan
    long waitTime;
}
