// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Steps.Step;
import io.penstock.diagnose.Summary.MachineUse;
import io.penstock.diagnose.machine.GpuSample;
import io.penstock.diagnose.machine.HostSample;
import io.penstock.diagnose.machine.MachineSample;
import io.penstock.diagnose.machine.Throttle;
import io.penstock.json.Json;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** The verdicts on the machine, from what was seen of it during the steps. What it does not tell is not judged. */
final class MachineRules {

    private static final int LEAST_SAMPLES = 5;
    /** TraceML's: utilization below 30 % is low, up to 70 % moderate. */
    private static final double LOW = 0.3;
    private static final double MODERATE = 0.7;
    private static final double BUSY = 0.5;
    /** A share of the time before a sample that the trainer waited: of one while it computes, and while it waits. */
    private static final double COMPUTES = 0.1;
    private static final double WAITS = 0.9;
    /** What a sample's utilization is about. */
    private static final long GPU_NANOS = 1_000_000_000;
    private static final double THROTTLED_SHARE = 0.1;
    private static final double CAPPED_CLOCK = 0.8;
    /** By generation: GB/s of a lane, without its coding. */
    private static final double[] LANE = {0, 0.25, 0.5, 0.985, 1.97, 3.94, 7.56};
    private static final int CREEP_STEPS = 200;
    private static final double CREEP_SHARE = 0.01;
    private static final double CREEP_BYTES = 16 << 20;
    private static final double CREEP_COUNT = 10;
    /** The first part of the samples, in which a run still warms up. */
    private static final double WARM_UP = 0.2;

    /** A look at the GPU during the steps, and the share of the second before it in which the trainer waited. */
    private record GpuLook(GpuSample gpu, double waited) {
    }

    private final Facts facts;
    /** During the steps. */
    private final List<MachineSample> samples;
    /** Those of which the totals were read: the samples between have the totals of the one before. */
    private final List<MachineSample> read = new ArrayList<>();
    private final List<GpuLook> looks = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();

    MachineRules(Facts facts) {
        this.facts = facts;
        long begin = facts.steps.isEmpty() ? 0 : facts.steps.getFirst().account().taking().requestedAt();
        long end = facts.steps.isEmpty() ? 0 : endOf(facts.steps.getLast());
        this.samples = facts.recording.seen().samples().stream().filter(sample -> !facts.steps.isEmpty()
                && sample.atNanos() - begin >= 0 && sample.atNanos() - end <= 0
                && facts.recording.interludeNanos(sample.atNanos() - GPU_NANOS, sample.atNanos()) == 0).toList();
        for (int i = 1; i < samples.size(); i++) {
            if (samples.get(i).host().cpu() != samples.get(i - 1).host().cpu()) {
                read.add(samples.get(i));
            }
        }
        int from = 0;
        for (MachineSample sample : samples) {
            if (sample.gpu() == null) {
                continue;
            }
            long since = Math.max(begin, sample.atNanos() - GPU_NANOS);
            while (from < facts.steps.size() && endOf(facts.steps.get(from)) - since < 0) {
                from++;
            }
            long waited = 0;
            for (int i = from; i < facts.steps.size(); i++) {
                var taking = facts.steps.get(i).account().taking();
                if (taking.requestedAt() - sample.atNanos() >= 0) {
                    break;
                }
                waited += Intervals.overlapNanos(since, sample.atNanos(), taking.requestedAt(), taking.takenAt());
            }
            if (sample.atNanos() > since) {
                looks.add(new GpuLook(sample.gpu(), (double) waited / (sample.atNanos() - since)));
            }
        }
    }

    private static long endOf(Step step) {
        return step.account().taking().requestedAt() + step.nanos();
    }

    /** All findings, the most severe first. */
    List<Finding> judge() {
        if (looks.size() >= LEAST_SAMPLES) {
            idle();
            throttled();
            shared();
            link();
        }
        creep();
        cpu();
        findings.sort(StepRules.ORDER);
        return List.copyOf(findings);
    }

    private void find(Verdict verdict, Severity severity, double score, String summary, String action,
            Map<String, @Nullable Object> evidence) {
        findings.add(new Finding(verdict, severity, score, summary, action, List.of(), evidence));
    }

    private static double mean(List<GpuLook> looks, ToDoubleFunction<GpuSample> what) {
        return looks.stream().mapToDouble(look -> what.applyAsDouble(look.gpu)).filter(value -> !Double.isNaN(value))
                .average().orElse(Double.NaN);
    }

    private static double most(List<GpuLook> looks, ToDoubleFunction<GpuSample> what) {
        return looks.stream().mapToDouble(look -> what.applyAsDouble(look.gpu)).filter(value -> !Double.isNaN(value))
                .max().orElse(Double.NaN);
    }

    /** Of the looks, those in which the GPU worked; all if its utilization is not known. */
    private List<GpuLook> busy() {
        return looks.stream().filter(look -> !(look.gpu.utilization() < BUSY)).toList();
    }

    // ---- the GPU

    /** Waiting for input has verdicts of its own, so only the time in which the trainer computes counts. */
    private void idle() {
        List<GpuLook> computing = looks.stream().filter(look -> look.waited < COMPUTES).toList();
        double busy = mean(computing, GpuSample::utilization);
        if (computing.size() >= LEAST_SAMPLES && busy < MODERATE) {
            find(Verdict.GPU_IDLE, busy < LOW ? Severity.WARN : Severity.INFO, 1 - busy,
                    "The GPU is busy for " + NumberText.percent(busy) + " of the time while the trainer computes.",
                    "Use larger batches, fuse small kernels or replay a CUDA graph: the host launches work more slowly"
                            + " than the GPU does it.",
                    Json.members("gpu_utilization", busy, "samples", computing.size(), "gpu",
                            facts.recording.seen().gpu()));
        }
    }

    private void throttled() {
        List<GpuLook> busy = busy();
        List<GpuLook> held = busy.stream().filter(look -> !Throttle.of(look.gpu.clocks().throttle()).isEmpty())
                .toList();
        double share = (double) held.size() / Math.max(1, busy.size());
        double clock = mean(held, gpu -> gpu.clocks().multiprocessorMegahertz() / gpu.clocks().maximumMegahertz());
        Set<Throttle> reasons = EnumSet.noneOf(Throttle.class);
        held.forEach(look -> reasons.addAll(Throttle.of(look.gpu.clocks().throttle())));
        // Many devices run at their limit of power when they work well.
        boolean onlyPower = reasons.equals(EnumSet.of(Throttle.POWER_CAP));
        if (share < THROTTLED_SHARE || onlyPower && !(clock < CAPPED_CLOCK)) {
            return;
        }
        double lost = Double.isNaN(clock) ? 0 : share * (1 - clock);
        Severity severity = StepRules.severity(lost);
        find(Verdict.GPU_THROTTLED, onlyPower || severity == Severity.CRIT ? severity : Severity.WARN, lost,
                "The GPU's clocks are held down for " + NumberText.percent(share) + " of the time that it works: "
                        + reasons.stream().map(Throttle::label).collect(Collectors.joining(", ")) + "; they are at "
                        + NumberText.percent(clock) + " of the maximum.",
                onlyPower ? "Raise the limit of power (nvidia-smi -pl) if the supply allows it."
                        : "Check cooling and power of the machine: fans, air flow, other devices near it.",
                Json.members("share_of_busy_time", share, "clock_share", clock,
                        "reasons", reasons.stream().map(Throttle::label).toList(),
                        "temperature_celsius", most(looks, GpuSample::temperatureCelsius),
                        "power_watts", mean(held, GpuSample::powerWatts)));
    }

    /** A busy GPU alone says nothing: the trainer's stream may have work left while its thread waits. */
    private void shared() {
        long others = looks.stream().filter(look -> look.gpu.processes() > 1).count();
        if (2 * others < looks.size()) {
            return;
        }
        List<GpuLook> waiting = looks.stream().filter(look -> look.waited >= WAITS).toList();
        double meanwhile = waiting.size() >= LEAST_SAMPLES ? mean(waiting, GpuSample::utilization) : Double.NaN;
        double foreign = most(looks, gpu -> gpu.memory().usedBytes() - gpu.memory().processBytes());
        find(Verdict.GPU_SHARED, meanwhile >= BUSY ? Severity.WARN : Severity.INFO,
                Double.isNaN(meanwhile) ? 0 : meanwhile,
                String.format(Locale.ROOT, "%.0f processes compute on the GPU", most(looks, GpuSample::processes))
                        + (meanwhile >= BUSY ? ", and it is busy for " + NumberText.percent(meanwhile)
                                + " of the time while this trainer waits." : "."),
                "Give each process a GPU of its own, or divide it (MIG); see nvidia-smi for the other processes.",
                Json.members("processes", most(looks, GpuSample::processes),
                        "utilization_while_waiting", meanwhile, "memory_of_others_bytes", foreign));
    }

    /** Links of idle devices are slow to save power, so only those of busy ones are judged. */
    private void link() {
        List<GpuLook> busy = busy();
        double generation = most(busy, gpu -> gpu.link().generation());
        double lanes = most(busy, gpu -> gpu.link().lanes());
        double possibleGeneration = most(busy, gpu -> gpu.link().maximumGeneration());
        double possibleLanes = most(busy, gpu -> gpu.link().maximumLanes());
        double rate = rate(generation, lanes);
        double possible = rate(possibleGeneration, possibleLanes);
        if (busy.size() < LEAST_SAMPLES || !(rate < possible)) {
            return;
        }
        double copying = facts.share(Cause.COPY);
        Severity severity = StepRules.severity(copying);
        find(Verdict.LINK_DEGRADED, 2 * rate > possible || severity == Severity.CRIT ? severity : Severity.WARN,
                copying,
                String.format(Locale.ROOT, "The GPU's link runs as PCIe gen %.0f x%.0f of gen %.0f x%.0f: %.1f of %.1f"
                        + " GB/s.", generation, lanes, possibleGeneration, possibleLanes, rate, possible),
                "Seat the device in another slot, check risers and the firmware's settings of the slot.",
                Json.members("generation", generation, "lanes", lanes, "maximum_generation", possibleGeneration,
                        "maximum_lanes", possibleLanes, "gb_per_s", rate, "possible_gb_per_s", possible,
                        "copy_share_of_step", copying));
    }

    private static double rate(double generation, double lanes) {
        return generation >= 1 && generation < LANE.length ? LANE[(int) generation] * lanes : Double.NaN;
    }

    // ---- growth

    private void creep() {
        // Pages of the heap that were never used become resident as it fills: that is no growth.
        double[] heap = {0};
        List<Double> touched = new ArrayList<>();
        for (MachineSample sample : samples) {
            heap[0] = Math.max(heap[0], sample.host().memory().heapBytes());
            touched.add(heap[0]);
        }
        double[] outsideHeap = new double[samples.size()];
        for (int i = 0; i < outsideHeap.length; i++) {
            outsideHeap[i] = samples.get(i).host().memory().anonymousBytes() - touched.get(i);
        }
        HostSample.@Nullable GroupLimits limits = samples.isEmpty() ? null : samples.getLast().host().limits();
        double free = limits == null ? Double.NaN : limits.memoryLimitBytes() - limits.memoryBytes();
        creep("native memory", outsideHeap, true, free,
                "Close what the step opens: arenas, native buffers, handles of libraries.");
        creep("the Java heap", host(host -> host.memory().heapAfterGcBytes()), true,
                Runtime.getRuntime().maxMemory() - last(host(host -> host.memory().heapAfterGcBytes())),
                "Look for collections that keep something of each step, with a heap dump of an early and a late one.");
        creep("memory of the GPU", samples.stream().mapToDouble(sample -> sample.gpu() == null ? Double.NaN
                        : sample.gpu().memory().processBytes()).toArray(), true,
                last(samples.stream().mapToDouble(sample -> sample.gpu() == null ? Double.NaN
                        : sample.gpu().memory().totalBytes() - sample.gpu().memory().usedBytes()).toArray()),
                "Free what the step allocates on the device: tensors that are kept, caches that grow.");
        creep("open files", host(host -> host.memory().openFiles()), false, Double.NaN,
                "Close files, sockets and streams that the step opens.");
        creep("threads", host(host -> host.memory().threads()), false, Double.NaN,
                "Shut executors down that the step creates, or keep one.");
    }

    private double[] host(ToDoubleFunction<HostSample> what) {
        return samples.stream().mapToDouble(sample -> what.applyAsDouble(sample.host())).toArray();
    }

    private static double last(double[] values) {
        return DoubleStream.of(values).filter(value -> !Double.isNaN(value)).reduce(Double.NaN, (_, next) -> next);
    }

    /** Judges a series that has one value for each sample; NaN for those without. */
    private void creep(String what, double[] values, boolean bytes, double free, String action) {
        long[] requests = facts.steps.stream().mapToLong(step -> step.account().taking().requestedAt()).toArray();
        List<double[]> points = new ArrayList<>();
        for (int i = 0; i < values.length; i++) {
            if (!Double.isNaN(values[i])) {
                int at = Arrays.binarySearch(requests, samples.get(i).atNanos());
                points.add(new double[] {at < 0 ? -at - 1 : at, values[i]});
            }
        }
        points = points.subList((int) (WARM_UP * points.size()), points.size());
        if (points.size() < LEAST_SAMPLES) {
            return;
        }
        double[] x = points.stream().mapToDouble(point -> point[0]).toArray();
        double[] y = points.stream().mapToDouble(point -> point[1]).toArray();
        double steps = x[x.length - 1] - x[0];
        Trend trend = Trend.of(x, y);
        double least = bytes ? Math.max(CREEP_BYTES, CREEP_SHARE * Math.abs(y[0])) : CREEP_COUNT;
        if (steps < (1 - WARM_UP) * CREEP_STEPS || !(trend.low() * steps >= least)
                || !(trend.lastHalf() >= trend.slope() / 2)) {
            return;
        }
        double left = free / trend.slope();
        find(Verdict.MEMORY_CREEP, Severity.WARN, Math.min(1, trend.slope() * steps / Math.max(1, Math.abs(y[0]))),
                "Use of " + what + " grows by " + amount(trend.slope(), bytes) + " a step ("
                        + amount(trend.low(), bytes) + " to " + amount(trend.high(), bytes) + ", over "
                        + Math.round(steps) + " steps)"
                        + (left > 0 ? "; it is full in about " + NumberText.round(left, "") + " steps." : "."), action,
                Json.members("what", what, bytes ? "bytes_per_step" : "per_step", trend.slope(),
                        "low", trend.low(), "high", trend.high(), "steps", Math.round(steps), "samples", x.length));
    }

    private static String amount(double value, boolean bytes) {
        return bytes ? NumberText.of(value, "B") : NumberText.digits(value);
    }

    // ---- the control group

    private void cpu() {
        double share = throttledShare();
        if (share >= StepRules.INFO_SHARE) {
            double cores = samples.getLast().host().limits().cores();
            find(Verdict.CPU_THROTTLED, StepRules.severity(share), share,
                    "The control group has used up its " + NumberText.digits(cores) + " cores in "
                            + NumberText.percent(share) + " of its periods, and all its threads wait then.",
                    "Give the container more CPU (limits.cpu, --cpus), or use fewer workers.",
                    Json.members("throttled_share_of_periods", share, "limit_cores", cores,
                            "cores_used", perSecond(host -> host.cpu().totalSeconds()),
                            "workers", facts.recording.settings().workers()));
        }
    }

    private double throttledShare() {
        return gained(host -> host.limits().throttledPeriods()) / gained(host -> host.limits().periods());
    }

    /** The growth of a total between the first and the last time that it was read during the steps. */
    private double gained(ToDoubleFunction<HostSample> total) {
        return read.size() < 2 ? Double.NaN : total.applyAsDouble(read.getLast().host())
                - total.applyAsDouble(read.getFirst().host());
    }

    private double perSecond(ToDoubleFunction<HostSample> total) {
        return read.size() < 2 ? Double.NaN
                : gained(total) / ((read.getLast().atNanos() - read.getFirst().atNanos()) / 1e9);
    }

    // ---- figures

    /** The figures of the machine; null if nothing was seen during the steps. */
    @Nullable MachineUse use() {
        if (samples.isEmpty()) {
            return null;
        }
        return new MachineUse(Objects.requireNonNull(facts.recording.seen().gpu()),
                mean(looks, GpuSample::utilization), most(looks, gpu -> gpu.memory().usedBytes()),
                most(looks, gpu -> gpu.memory().processBytes()), mean(looks, GpuSample::powerWatts),
                most(looks, GpuSample::temperatureCelsius),
                mean(looks, gpu -> gpu.clocks().multiprocessorMegahertz() / gpu.clocks().maximumMegahertz()),
                DoubleStream.of(host(host -> host.memory().residentBytes())).max().orElse(Double.NaN),
                perSecond(host -> host.cpu().totalSeconds()), perSecond(host -> host.cpu().loaderSeconds()),
                perSecond(host -> host.pressure().cpuSeconds()), perSecond(host -> host.pressure().ioSeconds()),
                perSecond(host -> host.traffic().diskReadBytes()),
                perSecond(host -> host.traffic().networkReceivedBytes()), samples.getLast().host().limits().cores(),
                throttledShare());
    }
}
