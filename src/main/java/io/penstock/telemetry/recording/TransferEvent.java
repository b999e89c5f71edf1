// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;
import jdk.jfr.Timespan;

/** A batch was copied to the device. */
@Name("penstock.Transfer")
@Label("Transfer")
@Description("A batch was copied to the device: from enqueuing the copy until it was seen complete")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Throttle("2000/s")
final class TransferEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    long batch;

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
