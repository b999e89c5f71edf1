// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.BatchAccount;
import java.util.ArrayList;
import java.util.List;

/**
 * The steps of a recording, each with its wait. A step lasts from the request for its batch to the next request; at the
 * end of an epoch, or where the loader is moved, to the batch's close. Time between epochs is in no step.
 */
final class Steps {

    /**
     * One step.
     *
     * @param account its batch
     * @param waiting the wait for it
     * @param nanos the whole step
     * @param computeNanos the marked time, or the time that the batch was held
     */
    record Step(BatchAccount account, Wait waiting, long nanos, long computeNanos) {

        /** The part of the wait spent on the copy. */
        long h2dNanos() {
            return waiting.nanos(Cause.COPY);
        }

        /** The stream's stall if measured, else the thread's wait. */
        long exposedNanos() {
            return account.taking().exposedNanos() >= 0 ? account.taking().exposedNanos() : waiting.nanos();
        }

        long inputNanos() {
            return Math.max(0, exposedNanos() - h2dNanos());
        }

        /**
         * The part of the wait that one more slot would have saved: the batch was being made in it, and had started
         * late by the time that its worker lacked a slot.
         */
        long starvedNanos() {
            var made = account.making();
            long withoutSlot = made.slotAt() - made.claimedAt();
            long making = Intervals.overlapNanos(account.taking().requestedAt(), account.taking().takenAt(),
                    made.slotAt(), made.madeAt());
            return waiting.counts() ? waiting.nanos(Cause.SLOT) + Math.min(withoutSlot, making) : 0;
        }

        long residualNanos() {
            return Math.max(0, nanos - waiting.nanos() - computeNanos);
        }
    }

    private Steps() {
    }

    static List<Step> of(Recording recording) {
        List<BatchAccount> accounts = recording.accounts();
        List<Wait> waits = Attribution.of(recording);
        List<Step> steps = new ArrayList<>(accounts.size());
        for (int i = 0; i < accounts.size(); i++) {
            Taking taking = accounts.get(i).taking();
            long end = end(accounts, i);
            if (end != BatchAccount.NOT_MEASURED) {
                long compute = Math.min(Math.max(0, taking.computeOrHeldNanos()), end - taking.takenAt());
                steps.add(new Step(accounts.get(i), waits.get(i), end - taking.requestedAt(), Math.max(0, compute)));
            }
        }
        return steps;
    }

    private static long end(List<BatchAccount> accounts, int index) {
        boolean goesOn = index + 1 < accounts.size() && !accounts.get(index + 1).first()
                && accounts.get(index + 1).sequence() == accounts.get(index).sequence() + 1;
        return goesOn ? accounts.get(index + 1).taking().requestedAt() : accounts.get(index).taking().closedAt();
    }

    /** Excludes the first batches of epochs, whose waits are reported separately, unless there are no others. */
    static List<Step> steady(List<Step> steps) {
        List<Step> steady = steps.stream().filter(step -> !step.account().first()).toList();
        return steady.isEmpty() ? steps : steady;
    }
}
