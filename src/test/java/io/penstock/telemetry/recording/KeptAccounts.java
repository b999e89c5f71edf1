// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import io.penstock.telemetry.recording.Telemetry.SlotLevels;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Accounts of batches that were only played, kept by the tables that a loader keeps its own in. */
public final class KeptAccounts {

    /** Never asked: played accounts say themselves how full the slots were. */
    private static final SlotLevels NO_SLOTS = new SlotLevels() {

        @Override
        public int size() {
            throw new AssertionError();
        }

        @Override
        public int empty() {
            throw new AssertionError();
        }

        @Override
        public int madeFrom(long sequence) {
            throw new AssertionError();
        }

        @Override
        public boolean isMadeWith(long sequence) {
            throw new AssertionError();
        }
    };

    private KeptAccounts() {
    }

    /**
     * Writes accounts as the loader's threads would, and reads them as a diagnosis does.
     *
     * @param played in order
     * @param copies whether batches are copied
     * @return what is read
     */
    public static List<BatchAccount> of(List<BatchAccount> played, boolean copies) {
        var now = new AtomicLong();
        var accounts = new BatchAccounts(new LoaderIdentity("played", "device", 1, copies, copies), NO_SLOTS, now::get);
        var times = new DeviceTimes();
        times.withoutStream();
        for (BatchAccount account : played) {
            long sequence = account.sequence();
            accounts.made(filling(account));
            if (copies) {
                accounts.submitted(sequence, account.bytes(), account.copying().submitAt(),
                        account.copying().submittedAt());
                now.set(account.copying().arrivedAt());
                accounts.arrived(sequence);
            }
            BatchAccount.Taking taking = account.taking();
            accounts.kept(sequence, taking.requestedAt(), taking.takenAt(), taking.readyBatches(),
                    taking.freeSlots());
            now.set(taking.closedAt());
            accounts.closed(sequence);
            BatchAccount.OnDevice clock = account.onDevice();
            if (clock != null) {
                times.sequence = sequence;
                times.copyNanos = clock.copyNanos();
                times.stageNanos = clock.stageNanos();
                times.lateNanos = clock.lateNanos();
                times.exposedNanos = clock.exposedNanos();
                times.computeNanos = clock.computeNanos();
                accounts.clocked(times);
                times.previousStepNanos = clock.stepNanos();
            }
        }
        return accounts.since(0);
    }

    private static Filling filling(BatchAccount account) {
        BatchAccount.Making made = account.making();
        var filling = new Filling(made.worker());
        filling.sequence = account.sequence();
        filling.claimedAt = made.claimedAt();
        filling.slotAt = made.slotAt();
        filling.plannedAt = made.plannedAt();
        filling.madeAt = made.madeAt();
        filling.epoch = account.epoch();
        filling.first = account.first();
        filling.samples = account.samples();
        filling.bytes = account.bytes();
        filling.readNanos = made.readNanos();
        filling.decodeNanos = made.decodeNanos();
        filling.transformNanos = made.transformNanos();
        BatchAccount.Download download = made.download();
        if (download != null) {
            filling.remoteReads = 1;
            System.arraycopy(new long[] {download.lockNanos(), download.queueNanos(), download.firstByteNanos(),
                download.transferNanos(), download.retryNanos()}, 0, filling.downloadNanos, 0,
                    BatchAccount.Download.PARTS);
        }
        filling.sourceEmptyNanos = made.sourceEmptyNanos();
        filling.sourceSlowNanos = made.sourceSlowNanos();
        BatchAccount.Usage usage = made.usage();
        if (usage != null) {
            filling.cpuNanos = usage.cpuNanos();
            filling.diskBytes = usage.diskBytes();
            filling.majorFaults = usage.majorFaults();
            filling.voluntarySwitches = usage.voluntarySwitches();
            filling.involuntarySwitches = usage.involuntarySwitches();
            filling.queuedNanos = usage.queuedNanos();
        }
        return filling;
    }
}
