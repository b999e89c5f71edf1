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

/** A worker made a batch, after planning it. JFR shows what was not measured as N/A. */
@Name("penstock.Stage")
@Label("Batch Stages")
@Description("A worker read, decoded, transformed and collated the samples of a batch")
@Category("Penstock")
@SuppressWarnings("NullAway.Init")
@StackTrace(false)
@Throttle("2000/s")
final class StageEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    @Description("The batch's number since the loader opened")
    long batch;

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
