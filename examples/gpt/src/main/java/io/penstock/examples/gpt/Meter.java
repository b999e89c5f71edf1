// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.penstock.loader.DataLoader;
import io.penstock.telemetry.LoaderReport;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;

/** What a run does in a second, and what its input costs: since the meter was read last. */
final class Meter {

    private final DataLoader loader;
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
    private long tokens;
    private long beganNanos;
    private LoaderReport report;
    private long processNanos;
    private long loaderNanos;

    /**
     * @param tokensPerSecond tokens with a label
     * @param inputShare the share of the time in which the trainer waited for a batch
     * @param loaderCpuShare the share of the process's CPU time that the loader took
     */
    record Reading(double tokensPerSecond, double inputShare, double loaderCpuShare) {
    }

    Meter(DataLoader loader) {
        this.loader = loader;
        restart();
    }

    void count(long tokens) {
        this.tokens += tokens;
    }

    Reading read() {
        double nanos = System.nanoTime() - beganNanos;
        double cpuNanos = process.getProcessCpuTime() - processNanos;
        Reading reading = new Reading(tokens * 1e9 / nanos,
                loader.report().since(report).consumerWaitNanos() / nanos, (loaderNanos() - loaderNanos) / cpuNanos);
        restart();
        return reading;
    }

    /** Leaves out what has happened since the last reading. */
    void restart() {
        tokens = 0;
        report = loader.report();
        processNanos = process.getProcessCpuTime();
        loaderNanos = loaderNanos();
        beganNanos = System.nanoTime();
    }

    /** The CPU time of the loader's threads. */
    private long loaderNanos() {
        long nanos = 0;
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo thread = threads.getThreadInfo(id);
            if (thread != null && thread.getThreadName().startsWith(Input.TRAINING + "-")) {
                nanos += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return nanos;
    }
}
