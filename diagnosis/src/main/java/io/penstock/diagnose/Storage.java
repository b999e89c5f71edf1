// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Usage;
import java.util.ArrayList;
import java.util.List;

/** What storage delivered. */
final class Storage {

    /** Long enough for a rate, short enough to catch storage at its best. */
    private static final int WINDOW_BATCHES = 32;

    /** The best rate over some tens of batches, summed over workers; 0 if nothing came from storage. */
    static double peakBytesPerNano(Recording recording) {
        List<BatchAccount> measured = new ArrayList<>();
        recording.accounts().stream().filter(account -> account.making().usage() != null).forEach(measured::add);
        int window = Math.min(WINDOW_BATCHES, measured.size());
        double best = 0;
        long bytes = 0;
        for (int i = 0; i < measured.size(); i++) {
            bytes += diskBytes(measured.get(i));
            if (i >= window) {
                bytes -= diskBytes(measured.get(i - window));
            }
            if (i >= window - 1) {
                long begin = Long.MAX_VALUE;
                long end = Long.MIN_VALUE;
                for (BatchAccount account : measured.subList(i - window + 1, i + 1)) {
                    begin = Math.min(begin, account.making().plannedAt());
                    end = Math.max(end, account.making().madeAt());
                }
                best = Math.max(best, (double) bytes / Math.max(1, end - begin));
            }
        }
        return best;
    }

    private static long diskBytes(BatchAccount account) {
        Usage usage = account.making().usage();
        return usage == null ? 0 : usage.diskBytes();
    }
}
