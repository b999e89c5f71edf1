// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.StageRow;
import io.penstock.loader.LoaderInfo;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Making;
import java.util.ArrayList;
import java.util.List;

/** The times of the stages, over all batches of a recording. */
final class StageTable {

    /** A batch's time in a stage; {@link BatchAccount#NOT_MEASURED} if it has none. */
    static long nanos(Stage stage, BatchAccount account) {
        Making made = account.making();
        return switch (stage) {
            case SLOT -> made.slotAt() - made.claimedAt();
            case PLAN -> made.planNanos();
            case READ -> made.readNanos();
            case DECODE -> made.decodeNanos();
            case TRANSFORM -> made.transformNanos();
            case COLLATE -> made.collateNanos();
            case ORDER -> Math.max(0, handedOnAt(account) - made.madeAt());
            case SUBMIT -> account.copying() == null ? BatchAccount.NOT_MEASURED
                    : account.copying().submittedAt() - account.copying().submitAt();
            case COPY -> account.copyNanos();
            case STAGES -> account.onDevice() == null ? BatchAccount.NOT_MEASURED : account.onDevice().stageNanos();
        };
    }

    private static long handedOnAt(BatchAccount account) {
        return account.copying() == null ? account.taking().requestedAt() : account.copying().submitAt();
    }

    static List<StageRow> of(Recording recording) {
        List<StageRow> rows = new ArrayList<>();
        List<BatchAccount> accounts = recording.accounts();
        if (accounts.isEmpty()) {
            return rows;
        }
        double span = (double) accounts.getLast().taking().takenAt() - accounts.getFirst().making().claimedAt();
        // Only some batches of very short steps have accounts: the span is divided among all.
        long batches = accounts.getLast().sequence() - accounts.getFirst().sequence() + 1;
        double spanOfAccounts = span * accounts.size() / batches;
        for (Stage stage : Stage.values()) {
            double[] millis = accounts.stream().mapToLong(account -> nanos(stage, account))
                    .filter(nanos -> nanos >= 0).mapToDouble(nanos -> nanos / 1e6).toArray();
            if (millis.length > 0) {
                rows.add(row(stage, millis, recording, spanOfAccounts / 1e6));
            }
        }
        return rows;
    }

    private static StageRow row(Stage stage, double[] millis, Recording recording, double spanMillis) {
        LoaderInfo settings = recording.settings();
        Distribution spread = Distribution.of(millis);
        double total = spread.mean() * spread.count();
        int threads = stage.compareTo(Stage.SUBMIT) >= 0 ? 1 : Math.max(1, settings.workers());
        double blocked = blockedShare(stage, recording);
        long bytes = switch (stage) {
            case READ, COLLATE, COPY -> recording.accounts().stream().mapToLong(BatchAccount::bytes).sum();
            default -> 0;
        };
        return new StageRow(stage, spread, total, total * (1 - blocked), total * blocked, bytes, threads,
                stage == Stage.ORDER || spanMillis <= 0 ? Double.NaN : Math.min(1, total / spanMillis / threads));
    }

    /** The blocked share of a stage's time, over measured batches; NaN without any. */
    private static double blockedShare(Stage stage, Recording recording) {
        if (!stage.isWork()) {
            return 1;
        }
        if (stage == Stage.PLAN || stage.compareTo(Stage.SUBMIT) >= 0) {
            return Double.NaN;
        }
        double blocked = 0;
        double wall = 0;
        for (BatchAccount account : recording.accounts()) {
            Making made = account.making();
            long inStage = nanos(stage, account);
            long all = made.madeAt() - made.plannedAt();
            if (made.usage() != null && inStage >= 0 && all > 0) {
                double outsideRead = Math.max(0, made.blockedNanos() - Math.max(0, made.readNanos()));
                double rest = Math.max(1, all - Math.max(0, made.readNanos()));
                blocked += stage == Stage.READ ? Math.min(made.readNanos(), made.blockedNanos())
                        : outsideRead * inStage / rest;
                wall += inStage;
            }
        }
        return wall == 0 ? Double.NaN : Math.min(1, blocked / wall);
    }
}
