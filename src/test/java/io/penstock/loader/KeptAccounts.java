package io.penstock.loader;

import java.util.List;

/** Accounts of batches that were only played, kept by the tables that a loader keeps its own in. */
public final class KeptAccounts {

    private KeptAccounts() {
    }

    /**
     * Writes accounts as the loader's threads would, and reads them as a diagnosis does.
     *
     * @param played in order
     * @param copies whether batches are copied
     * @return what is read; what only a device could tell is not measured
     */
    public static List<BatchAccount> of(List<BatchAccount> played, boolean copies) {
        long[] now = new long[1];
        var accounts = new Accounts(copies, "played", () -> 0, () -> { }, () -> now[0]);
        try {
            for (BatchAccount account : played) {
                make(accounts, account);
                if (copies) {
                    accounts.submitted(account.sequence(), account.copying().submitAt(),
                            account.copying().submittedAt());
                    accounts.arrived(account.sequence(), account.copying().arrivedAt());
                }
                BatchAccount.Taking taking = account.taking();
                accounts.taken(account.sequence(), taking.requestedAt(), taking.takenAt(), taking.readyBatches(),
                        taking.freeSlots());
                now[0] = taking.closedAt();
                accounts.givenBack(account.sequence());
            }
            return accounts.since(0);
        } finally {
            accounts.events.close();
        }
    }

    private static void make(Accounts accounts, BatchAccount account) {
        BatchAccount.Making made = account.making();
        int row = accounts.making(account.sequence(), made.claimedAt(), made.slotAt(), made.plannedAt(),
                made.madeAt());
        accounts.stages(row, made.readNanos(), made.decodeNanos(), made.transformNanos());
        BatchAccount.Usage usage = made.usage();
        if (usage == null) {
            accounts.noUsage(row);
        } else {
            accounts.usage(row, usage.cpuNanos(), usage.diskBytes(), usage.majorFaults(), usage.voluntarySwitches(),
                    usage.involuntarySwitches(), usage.queuedNanos());
        }
        accounts.made(row, account.sequence(), made.worker(), account.samples(), account.bytes(), account.epoch(),
                account.first());
    }
}
