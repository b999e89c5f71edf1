// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Copying;
import io.penstock.telemetry.BatchAccount.Making;

/** A batch's path to the trainer, divided by the times in its account. */
final class Path {

    private final long end;
    private long at;
    private long longest;
    private String name = "handover";

    private Path(long begin, long end) {
        this.at = begin;
        this.end = end;
    }

    /** The stage in which the batch spent most of the time that the trainer waited for it. */
    static String longest(BatchAccount account) {
        Making made = account.making();
        Copying copied = account.copying();
        var path = new Path(account.taking().requestedAt(), account.taking().takenAt());
        path.until(made.claimedAt(), "start");
        path.until(made.slotAt(), "slot");
        path.until(made.plannedAt() - made.planNanos(), "source");
        path.until(made.plannedAt(), "plan");
        path.until(made.madeAt(), "make");
        if (copied != null) {
            path.until(copied.submitAt(), "slot");
            path.until(copied.arrivedAt() < 0 ? path.end : copied.arrivedAt(), "copy");
        }
        path.until(path.end, "handover");
        return path.name;
    }

    private void until(long time, String stretch) {
        long to = Math.min(Math.max(time, at), Math.max(at, end));
        if (to - at > longest) {
            longest = to - at;
            name = stretch;
        }
        at = to;
    }
}
