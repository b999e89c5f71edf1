// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.Prediction;
import io.penstock.telemetry.BatchAccount;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Predicts a run's throughput with other settings by replaying its recorded service times through the loader's
 * topology: workers that claim batches in order, slots, one copy at a time, delivery in order, and the trainer's own
 * times. The machine's observed limits cap the result: CPU time per batch on its cores, and storage's best rate. That
 * rate is a limit only as far as threads were blocked reading: storage that is hardly used has no rate to tell.
 *
 * <p>The first prediction is for the present settings. Its deviation from the measurement is the error of all; beyond
 * 10 %, do not trust any.
 */
final class WhatIf {

    /** Beyond this error, predictions are not trusted. */
    static final double TRUSTED_ERROR = 0.10;
    /** Fewer steps are mostly the compilation of the code, and the filling of the slots: nothing is predicted. */
    static final int MIN_STEPS = 20;
    /**
     * The most that other work in the workers is predicted to gain: what little time then remains of a batch is mostly
     * noise, and the run does not show which limit comes first.
     */
    static final double MAX_GAIN = 3;

    private final Service[] services;
    private final Limits limits;
    private final Setting present;
    private final double measuredNanos;
    /** The replay's result for the present settings. */
    private final double presentNanos;
    private final double error;
    /** The share of decoding and maps that a device would take over. */
    private final double moved;
    /** Whether samples are decoded or mapped at all. */
    private final boolean prepares;

    /**
     * Settings to predict for: 0 workers means that batches are made on the trainer's thread, 0 device slots that
     * batches are lent in place.
     */
    record Setting(int workers, int hostSlots, int deviceSlots, Reading reading) {
    }

    /** What happens to the work of reading and preparing samples. */
    enum Reading {
        /** Workers read and prepare samples as they did in the recording. */
        AS_IS,
        /** The dearest step of the sample maps, and those after it, run on the device, which has the time. */
        DEVICE,
        /** Samples are stored decoded and mapped: workers copy them. */
        OFFLINE,
        /** Bytes are read ahead: the worker does not wait, and storage keeps its rate. */
        AHEAD,
        /** Making batches costs nothing: the ceiling. */
        NONE
    }

    /** One batch's times, independent of settings, in nanoseconds. */
    private record Service(double make, double blocked, double prepare, double copy, double take, double hold,
            double gap, boolean counts, double rest, int samples) {
    }

    /** The machine's limits: minimum nanoseconds per batch that cores and storage need. */
    private record Limits(double coreNanos, double storageNanos) {
    }

    WhatIf(Recording recording) {
        this(recording, Steps.onThread(recording));
    }

    /** For a recording whose steps on the trainer's thread are already computed. */
    WhatIf(Recording recording, List<Steps.Step> steps) {
        var settings = recording.settings();
        this.present = new Setting(settings.workers(), settings.memory().hostSlots(), settings.memory().deviceSlots(),
                Reading.AS_IS);
        this.services = services(recording, steps);
        this.limits = limits(recording);
        this.moved = new PartShares(recording.parts()).fromDearest();
        this.prepares = Stream.of(services).anyMatch(service -> service.prepare > 0);
        double measured = 0;
        for (Steps.Step step : Steps.steady(steps)) {
            measured += step.nanos();
        }
        this.measuredNanos = measured;
        this.presentNanos = new Replay(present).nanos();
        this.error = services.length == 0 || measured == 0 ? Double.NaN : presentNanos / measured - 1;
    }

    /**
     * Returns predictions for the present settings, and then for those worth trying next; none for fewer than
     * {@value #MIN_STEPS} steps.
     */
    List<Prediction> predictions() {
        if (!hasEnough()) {
            return List.of();
        }
        Map<String, Setting> changes = new LinkedHashMap<>();
        changes.put("none", present);
        int workers = present.workers;
        int slots = present.hostSlots;
        for (int other : new int[] {Math.max(1, workers / 2), workers + 1, Math.max(2, workers * 2)}) {
            if (other != workers) {
                int more = other - Math.max(1, workers);
                changes.put("workers " + other, new Setting(other, Math.max(other + 2, slots + 3 * Math.max(0, more)),
                        present.deviceSlots, Reading.AS_IS));
            }
        }
        changes.put("slots " + 2 * slots, new Setting(workers, 2 * slots, present.deviceSlots, Reading.AS_IS));
        if (slots / 2 > workers + 1) {
            changes.put("slots " + slots / 2, new Setting(workers, slots / 2, present.deviceSlots, Reading.AS_IS));
        }
        if (present.deviceSlots > 0) {
            changes.put("device slots " + (present.deviceSlots + 1),
                    new Setting(workers, slots, present.deviceSlots + 1, Reading.AS_IS));
        }
        if (moved > 0) {
            changes.put("steps on the device", new Setting(workers, slots, present.deviceSlots, Reading.DEVICE));
        }
        if (prepares) {
            changes.put("samples made offline", new Setting(workers, slots, present.deviceSlots, Reading.OFFLINE));
        }
        changes.put("read ahead", new Setting(workers, slots, present.deviceSlots, Reading.AHEAD));
        changes.put("free input", new Setting(Math.max(1, workers), slots, present.deviceSlots, Reading.NONE));
        List<Prediction> predictions = new ArrayList<>();
        changes.forEach((change, setting) -> predictions.add(predict(change, setting)));
        return predictions;
    }

    private boolean hasEnough() {
        return !Double.isNaN(error) && Stream.of(services).filter(Service::counts).count() >= MIN_STEPS;
    }

    /** The gain of other work in the workers; NaN if there are too few steps, or if the replay is not trusted. */
    double gain(Reading reading) {
        return hasEnough() && Math.abs(error) <= TRUSTED_ERROR ? predict("", new Setting(present.workers,
                present.hostSlots, present.deviceSlots, reading)).gain() : Double.NaN;
    }

    Prediction predict(String change, Setting setting) {
        var replay = new Replay(setting);
        double nanos = replay.nanos();
        double samples = 0;
        for (Service service : services) {
            samples += service.counts ? service.samples : 0;
        }
        return new Prediction(change, samples / nanos * 1e9, presentNanos / nanos - 1, Math.abs(error),
                Math.abs(error) <= TRUSTED_ERROR, replay.limit());
    }

    private static Service[] services(Recording recording, List<Steps.Step> steps) {
        List<Steps.Step> steady = Steps.steady(steps);
        boolean all = steady == steps;
        Service[] services = new Service[steps.size()];
        for (int i = 0; i < services.length; i++) {
            Steps.Step step = steps.get(i);
            BatchAccount account = step.account();
            var taking = account.taking();
            long ready = readyAt(account);
            double copy = Math.max(0, account.copyNanos());
            double take = taking.takenAt() - Math.max(ready, taking.requestedAt());
            double held = Math.max(0, Math.min(taking.closedAt() < 0 ? Long.MAX_VALUE : taking.closedAt(),
                    taking.requestedAt() + step.nanos()) - taking.takenAt());
            double own = Math.max(0, taking.requestedAt() + step.nanos() - taking.takenAt() - held);
            double between = i + 1 == services.length ? 0 : steps.get(i + 1).account().taking().requestedAt()
                    - taking.requestedAt() - step.nanos();
            services[i] = new Service(account.making().madeAt() - account.making().slotAt(),
                    nanos(account, recording, Cause.READ_BLOCKED, Cause.DOWNLOAD), prepareNanos(account), copy,
                    Math.max(0, take), held, own, all || !account.first(), Math.max(0, between),
                    account.samples());
        }
        return services;
    }

    /** The time of some causes in the making of a batch. */
    private static double nanos(BatchAccount account, Recording recording, Cause... causes) {
        MakingMix mix = MakingMix.of(account.making(), recording.pauses());
        return (account.making().madeAt() - account.making().plannedAt())
                * Stream.of(causes).mapToDouble(mix::share).sum();
    }

    /** Decoding and sample maps. */
    private static double prepareNanos(BatchAccount account) {
        return Math.max(0, account.making().decodeNanos()) + Math.max(0, account.making().transformNanos());
    }

    /** When the trainer could have got the batch. */
    private static long readyAt(BatchAccount account) {
        var copying = account.copying();
        if (copying == null) {
            return account.making().madeAt();
        }
        boolean onStream = Attribution.hasStream(account) || copying.arrivedAt() < 0;
        return onStream ? copying.submittedAt() : copying.arrivedAt();
    }

    private static Limits limits(Recording recording) {
        double cpu = 0;
        double blocked = 0;
        long measured = 0;
        long disk = 0;
        for (BatchAccount account : recording.accounts()) {
            var usage = account.making().usage();
            if (usage != null) {
                cpu += usage.cpuNanos();
                disk += usage.diskBytes();
                blocked += nanos(account, recording, Cause.READ_BLOCKED);
                measured++;
            }
        }
        double storage = disk == 0 ? 0
                : Math.min(disk / Storage.peakBytesPerNano(recording), blocked) / measured;
        return new Limits(measured == 0 ? 0 : cpu / measured / cores(recording), storage);
    }

    /** The cores for workers: if they lacked some, those that they got, since other threads have the rest. */
    private static double cores(Recording recording) {
        double without = MakingMix.shareWithoutCore(recording);
        int all = recording.machine().cores();
        return without < Attribution.CORELESS_SHARE ? all
                : Math.min(all, Math.max(1, recording.settings().workers()) * (1 - without));
    }

    /** One replay of the recorded batches through a loader with given settings. */
    private final class Replay {

        private final Setting setting;
        private final double[] closed = new double[services.length];
        private final double[] hostFree = new double[services.length];
        private double counted;
        private double waited;
        private double slotWaited;
        private double copied;
        private double made;

        Replay(Setting setting) {
            this.setting = setting;
            run();
        }

        private void run() {
            double[] workers = new double[Math.max(1, setting.workers)];
            double copierFree = 0;
            double request = 0;
            for (int i = 0; i < services.length; i++) {
                Service service = services[i];
                int worker = earliest(workers);
                double claimed = setting.workers == 0 ? request : workers[worker];
                double slot = Math.max(claimed, i < setting.hostSlots ? 0 : hostFree[i - setting.hostSlots]);
                double ready = slot + makeNanos(service);
                workers[worker] = ready;
                slotWaited += slot - claimed;
                made += ready - slot;
                if (setting.deviceSlots > 0) {
                    double device = i < setting.deviceSlots ? 0 : closed[i - setting.deviceSlots];
                    ready = Math.max(Math.max(ready, copierFree), device) + service.copy;
                    copierFree = ready;
                    hostFree[i] = ready;
                    copied += service.copy;
                }
                double taken = Math.max(request, ready) + service.take;
                closed[i] = taken + service.hold;
                if (setting.deviceSlots == 0) {
                    hostFree[i] = closed[i];
                }
                if (service.counts) {
                    counted += closed[i] + service.gap - request;
                    waited += taken - request;
                }
                request = closed[i] + service.gap + service.rest;
            }
        }

        private double makeNanos(Service service) {
            return switch (setting.reading) {
                case AS_IS -> service.make;
                case DEVICE -> Math.max(0, service.make - moved * service.prepare);
                case OFFLINE -> Math.max(0, service.make - service.prepare);
                case AHEAD -> Math.max(0, service.make - service.blocked);
                case NONE -> 0;
            };
        }

        private static int earliest(double[] workers) {
            int earliest = 0;
            for (int w = 1; w < workers.length; w++) {
                if (workers[w] < workers[earliest]) {
                    earliest = w;
                }
            }
            return earliest;
        }

        /** Work that is no longer done needs no core. */
        private double floorNanos() {
            long steps = 0;
            for (Service service : services) {
                steps += service.counts ? 1 : 0;
            }
            double kept = 0;
            double all = 0;
            for (Service service : services) {
                kept += setting.reading == Reading.AHEAD ? service.make : makeNanos(service);
                all += service.make;
            }
            double cores = all == 0 ? 0 : limits.coreNanos * kept / all;
            return setting.reading == Reading.NONE ? 0 : steps * Math.max(cores, limits.storageNanos);
        }

        /** The time of the steps that count. */
        double nanos() {
            return setting.equals(present) ? counted : Math.max(cappedNanos(), leastNanos());
        }

        private double cappedNanos() {
            return Math.max(counted, Math.min(floorNanos(), measuredNanos));
        }

        /** What takes no less by prediction. */
        private double leastNanos() {
            return switch (setting.reading) {
                case AS_IS, NONE -> 0;
                case DEVICE, OFFLINE, AHEAD -> presentNanos / (1 + MAX_GAIN);
            };
        }

        String limit() {
            if (leastNanos() > cappedNanos()) {
                return "unknown";
            }
            if (nanos() > counted) {
                return limits.storageNanos > limits.coreNanos ? "storage" : "cores";
            }
            if (setting.reading == Reading.NONE && copied <= 0.9 * counted || waited < 0.05 * counted) {
                return "trainer";
            }
            if (copied > 0.9 * counted) {
                return "copy";
            }
            return slotWaited > made ? "slots" : "workers";
        }
    }
}
