package io.penstock.telemetry;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;
import jdk.jfr.Timespan;

/** A worker made a batch, from the plan on. What was not measured is what the recorder shows as N/A. */
@Name("penstock.Stage")
@Label("Batch Stages")
@Description("A worker read, decoded, transformed and collated the samples of a batch")
@Category("Penstock")
@StackTrace(false)
@Throttle("2000/s")
final class StageEvent extends Event {

    @Label("Loader")
    String loader;

    @Label("Batch")
    @Description("The batch's number in the loader's life")
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
    @Description("Working out which samples make the batch, before this event begins")
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
    @Description("What is left; of samples as they are stored, that is reading too")
    @Timespan
    long collateTime;

    @Label("CPU Time")
    @Description("What the thread ran; not asked for at each of many small batches")
    @Timespan
    long cpuTime;

    @Label("Blocked Time")
    @Description("What the thread stood still, for storage, a lock or a core")
    @Timespan
    long blockedTime;

    @Label("Read From Storage")
    @DataAmount
    long storageBytes;
}
