// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Steps.Step;
import io.penstock.diagnose.machine.GpuSample;
import io.penstock.diagnose.machine.MachineSample;
import io.penstock.diagnose.watch.RankStatus;
import io.penstock.loader.LoaderInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Makes a rank's status of a recording of its latest steps. */
final class StatusMaker {

    static final int WINDOW = 50;
    private static final int LEFT_OUT = 3;
    private static final int LEAST_FOR_THAT = 20;

    private final Recording recording;
    private final long newest;
    private final long nowNanos;
    private final String doing;
    private final List<Step> steps;

    StatusMaker(Recording recording, long newest, long nowNanos, String doing) {
        this.recording = recording;
        this.newest = newest;
        this.nowNanos = nowNanos;
        this.doing = doing;
        // By the thread's clock: the device's has not timed the latest steps yet.
        List<Step> all = Steps.steady(Steps.onThread(recording));
        List<Step> latest = all.subList(Math.max(0, all.size() - WINDOW), all.size());
        List<Step> sorted = latest.stream().sorted(Comparator.comparingLong(Step::nanos)).toList();
        this.steps = sorted.size() < LEAST_FOR_THAT ? sorted : sorted.subList(0, sorted.size() - LEFT_OUT);
    }

    private double millis(ToDoubleFunction<Step> nanos) {
        return steps.stream().mapToDouble(nanos).average().orElse(Double.NaN) / 1e6;
    }

    private List<RankStatus.StepPart> parts() {
        List<RankStatus.StepPart> parts = new ArrayList<>();
        for (Cause cause : Cause.values()) {
            add(parts, cause.label(), millis(step -> step.waiting().nanos(cause)));
        }
        add(parts, RankStatus.COMPUTE, millis(Step::computeNanos));
        add(parts, RankStatus.RESIDUAL, millis(Step::residualNanos));
        return parts;
    }

    private static void add(List<RankStatus.StepPart> parts, String name, double millis) {
        if (millis > 0) {
            parts.add(new RankStatus.StepPart(name, millis));
        }
    }

    RankStatus status(double exchangeMillis, double waitedSeconds) {
        LoaderInfo info = recording.settings();
        List<MachineSample> seen = recording.seen().samples();
        GpuSample gpu = seen.reversed().stream().limit(WINDOW).map(MachineSample::gpu)
                .filter(look -> look != null).findFirst().orElse(null);
        double step = millis(Step::nanos);
        double samples = steps.stream().mapToLong(one -> one.account().samples()).average().orElse(Double.NaN);
        double idle = recording.accounts().isEmpty() ? 0
                : (nowNanos - recording.accounts().getLast().taking().requestedAt()) / 1e9;
        return new RankStatus(info.name(), info.rank(), info.worldSize(), Summarizer.hostName(),
                ProcessHandle.current().pid(), System.currentTimeMillis(), newest + 1, idle, doing, steps.size(),
                1e3 / step, samples * 1e3 / step, step, parts(), exchangeMillis, waitedSeconds, recording.seen().gpu(),
                gpu == null ? Double.NaN : gpu.utilization(), gpu == null ? Double.NaN : gpu.memory().usedBytes(),
                gpu == null ? Double.NaN : gpu.memory().totalBytes(),
                seen.isEmpty() ? Double.NaN : seen.getLast().host().memory().residentBytes());
    }
}
