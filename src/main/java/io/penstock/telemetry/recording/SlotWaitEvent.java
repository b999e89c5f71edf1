// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A worker waited for a free slot. */
@Name("penstock.SlotWait")
@Label("Slot Wait")
@Description("A worker waited for a free slot: backpressure, unless the trainer waits too")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Threshold("50 us")
final class SlotWaitEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    long batch;

    @Label("Worker")
    int worker;
}
