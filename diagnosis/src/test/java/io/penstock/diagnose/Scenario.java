// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.machine.MachineLog;
import io.penstock.diagnose.machine.MachineSample;
import io.penstock.io.ReadMode;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.LoaderInfo;
import io.penstock.loader.LoaderMemory;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Copying;
import io.penstock.telemetry.BatchAccount.Download;
import io.penstock.telemetry.BatchAccount.Making;
import io.penstock.telemetry.BatchAccount.OnDevice;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.BatchAccount.Usage;
import io.penstock.telemetry.LoaderReport.Downloads;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.telemetry.SampleTimes;
import io.penstock.telemetry.recording.KeptAccounts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.function.LongUnaryOperator;

/**
 * A loader and a trainer of known costs, played through event by event: what a recording of it says is known. In
 * microseconds; a batch is healthy and the trainer the slower one, until told otherwise.
 */
final class Scenario {

    static final long MICRO = 1_000;
    static final long ORIGIN = 1_000_000_000L;

    int batches = 200;
    /** With none, the trainer's thread makes its batches. */
    int workers = 2;
    int hostSlots = 6;
    int deviceSlots;
    int rank;
    int worldSize = 1;
    boolean pinned = true;
    /** Whether the device's clock is read: the trainer's stream then stalls and works as its thread does. */
    boolean timed;
    ReadMode readMode = ReadMode.PREAD;
    int batchesPerEpoch = Integer.MAX_VALUE;
    int samples = 32;
    long bytes = 1 << 20;
    IntToLongFunction plan = _ -> 5;
    /** Of the planning. */
    IntToLongFunction sourceEmpty = _ -> 0;
    IntToLongFunction sourceSlow = _ -> 0;
    IntToLongFunction read = _ -> 0;
    IntToLongFunction decode = _ -> 0;
    IntToLongFunction transform = _ -> 0;
    IntToLongFunction collate = _ -> 300;
    /** What the thread that makes a batch does not run. */
    IntToLongFunction blocked = _ -> 0;
    /** What of it was for want of a core, if the system says so. */
    IntToLongFunction queued;
    IntToLongFunction diskBytes = _ -> 0;
    IntToLongFunction involuntary = _ -> 0;
    IntFunction<Download> download = _ -> null;
    Downloads downloads = Downloads.NONE;
    IntToLongFunction copy = _ -> 100;
    IntToLongFunction hold = _ -> 2_000;
    IntToLongFunction gap = _ -> 20;
    /** Batches that the trainer keeps at a time. */
    int keeps = 1;
    /** From a batch's being there to the trainer's having it. */
    long handover = 1;
    /** Before the workers begin. */
    long start;
    double copyRate = Double.NaN;
    Recording.PhaseMarks marks;
    List<Recording.Stretch> pauses = new ArrayList<>();
    boolean withUsage = true;
    List<PartTime> parts = List.of();
    /** What is seen of the machine when a batch is requested; null for nothing. */
    IntFunction<MachineSample> machine = _ -> null;
    List<Recording.Interlude> interludes = List.of();
    SampleTimes sampleTimes = SampleTimes.NONE;

    LoaderInfo settings() {
        return new LoaderInfo("scenario", Role.TRAIN, "d", samples, rank, worldSize, workers, readMode, "device",
                1, deviceSlots > 0, pinned, new LoaderMemory(hostSlots, deviceSlots, bytes, hostSlots * bytes,
                        deviceSlots * bytes));
    }

    Recording play() {
        List<BatchAccount> accounts = accounts();
        List<MachineSample> seen = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            MachineSample sample = machine.apply(i);
            if (sample != null) {
                seen.add(new MachineSample(accounts.get(i).taking().requestedAt(), sample.host(), sample.gpu()));
            }
        }
        return new Recording(settings(), KeptAccounts.of(accounts, deviceSlots > 0), pauses, marks,
                new Recording.Machine(8, 10e9, copyRate, 0.3), parts, downloads, (long) batches * samples, interludes,
                new MachineLog(seen, "Simulated"), sampleTimes);
    }

    private List<BatchAccount> accounts() {
        long[] free = new long[Math.max(1, workers)];
        Arrays.fill(free, start);
        long[] hostFree = new long[batches];
        long[] closed = new long[batches];
        long[] made = new long[batches];
        long[] requested = new long[batches];
        List<BatchAccount> accounts = new ArrayList<>();
        LongUnaryOperator at = micros -> ORIGIN + micros * MICRO;
        long copierFree = 0;
        long request = 0;
        List<long[]> rows = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            int worker = 0;
            for (int w = 1; w < workers; w++) {
                worker = free[w] < free[worker] ? w : worker;
            }
            long claimed = workers == 0 ? request : free[worker];
            long slot = Math.max(claimed, i < hostSlots ? 0 : hostFree[i - hostSlots]);
            long planned = slot + plan.applyAsLong(i);
            made[i] = planned + read.applyAsLong(i) + decode.applyAsLong(i) + transform.applyAsLong(i)
                    + collate.applyAsLong(i);
            free[worker] = made[i];
            long ready = made[i];
            long submit = 0;
            if (deviceSlots > 0) {
                submit = Math.max(Math.max(ready, copierFree), i < deviceSlots ? 0 : closed[i - deviceSlots]);
                ready = submit + copy.applyAsLong(i);
                copierFree = ready;
                hostFree[i] = ready;
            }
            requested[i] = request;
            long taken = Math.max(request, ready) + handover;
            long released = taken + hold.applyAsLong(i);
            for (int kept = Math.max(0, i - keeps + 1); kept <= (i == batches - 1 ? i : i - keeps + 1); kept++) {
                closed[kept] = released;
                hostFree[kept] = deviceSlots == 0 ? released : hostFree[kept];
            }
            rows.add(new long[] {worker, claimed, slot, planned, submit, ready, taken});
            request = released + gap.applyAsLong(i);
        }
        for (int i = 0; i < batches; i++) {
            long[] row = rows.get(i);
            long wall = made[i] - row[3];
            Usage usage = !withUsage ? null : new Usage((wall - blocked.applyAsLong(i)) * MICRO,
                    diskBytes.applyAsLong(i), 0, involuntary.applyAsLong(i) > 0 ? 0 : 1, involuntary.applyAsLong(i),
                    queued == null ? BatchAccount.NOT_MEASURED : queued.applyAsLong(i) * MICRO);
            int readyBatches = 0;
            for (int j = i; j < batches && j < i + hostSlots; j++) {
                readyBatches += made[j] <= requested[i] ? 1 : 0;
            }
            Copying copying = deviceSlots == 0 ? null
                    : new Copying(at.applyAsLong(row[4]), at.applyAsLong(row[4] + Math.min(10, copy.applyAsLong(i))),
                            at.applyAsLong(row[5]));
            accounts.add(new BatchAccount(i, i / batchesPerEpoch, i % batchesPerEpoch == 0, samples, bytes,
                    new Making((int) row[0], at.applyAsLong(row[1]), at.applyAsLong(row[2]), at.applyAsLong(row[3]),
                            at.applyAsLong(made[i]), read.applyAsLong(i) * MICRO, decode.applyAsLong(i) * MICRO,
                            transform.applyAsLong(i) * MICRO, sourceEmpty.applyAsLong(i) * MICRO,
                            sourceSlow.applyAsLong(i) * MICRO, usage, download.apply(i)),
                    copying, new Taking(at.applyAsLong(requested[i]), at.applyAsLong(row[6]),
                            at.applyAsLong(closed[i]), BatchAccount.NOT_MEASURED, readyBatches,
                            hostSlots - readyBatches),
                    !timed ? null : new OnDevice(copy.applyAsLong(i) * MICRO, 0,
                            Math.max(0, row[4] - requested[i]) * MICRO, (row[6] - requested[i]) * MICRO,
                            (closed[i] - row[6]) * MICRO, i == batches - 1 ? BatchAccount.NOT_MEASURED
                                    : (requested[i + 1] - requested[i]) * MICRO, null)));
        }
        return accounts;
    }
}
