package io.penstock.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A batch stood made behind one that was not. */
@Name("penstock.OrderWait")
@Label("Order Wait")
@Description("A batch was made before one that goes first, and stood until its turn")
@Category("Penstock")
@StackTrace(false)
@Threshold("50 us")
final class OrderWaitEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    long batch;
}
