// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** The trainer waited for a batch. */
@Name("penstock.ConsumerWait")
@Label("Consumer Wait")
@Description("The trainer's thread waited for a batch")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Threshold("50 us")
final class ConsumerWaitEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    long batch;

    @Label("Filled Slots")
    @Description("Slots with a finished batch at the end of the wait, this batch included")
    int filledSlots;
}
