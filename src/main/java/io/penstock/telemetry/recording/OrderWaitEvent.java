// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A complete batch waited for an earlier one. */
@Name("penstock.OrderWait")
@Label("Order Wait")
@Description("A batch was ready before an earlier one, and waited for its turn")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Threshold("50 us")
final class OrderWaitEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    long batch;
}
