// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.OnDevice;
import io.penstock.telemetry.BatchAccount.Taking;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The steps of a recording, each with its wait. A step lasts from the request for its batch to the next request; at the
 * end of an epoch, or where the loader is moved, to the batch's close. Time between epochs is in no step, nor is what
 * the trainer marked as no training.
 */
final class Steps {

    /**
     * One step; {@code computeNanos} is the marked time. Without marks, it is the work of the stream by the device's
     * clock, otherwise the time that the batch was held.
     */
    record Step(BatchAccount account, Wait waiting, long nanos, long computeNanos) {

        /** What the device's clock says; for steps that it has measured. */
        OnDevice onDevice() {
            return Objects.requireNonNull(account.onDevice());
        }

        /** The part of the wait spent on the copy. */
        long h2dNanos() {
            return waiting.nanos(Cause.COPY);
        }

        long inputNanos() {
            return waiting.nanos() - h2dNanos();
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
            return waiting.counts()
                    ? Math.min(waiting.nanos(), waiting.nanos(Cause.SLOT) + Math.min(withoutSlot, making)) : 0;
        }

        long residualNanos() {
            return Math.max(0, nanos - waiting.nanos() - computeNanos);
        }
    }

    /** By the device's clock if it measured every step, else by the trainer's thread. */
    static List<Step> of(Recording recording) {
        return recording.isTimedByDevice() ? onDevice(recording) : onThread(recording);
    }

    /** By the trainer's thread, which what-if predictions are about. */
    static List<Step> onThread(Recording recording) {
        List<BatchAccount> accounts = recording.accounts();
        List<Wait> waits = Attribution.of(recording);
        List<Step> steps = new ArrayList<>(accounts.size());
        for (int i = 0; i < accounts.size(); i++) {
            Taking taking = accounts.get(i).taking();
            long end = recording.goesOn(i) ? accounts.get(i + 1).taking().requestedAt() : taking.closedAt();
            if (end != BatchAccount.NOT_MEASURED) {
                long apart = recording.interludeNanos(taking.takenAt(), end);
                long held = Math.max(0, taking.computeOrHeldNanos())
                        - (taking.computeNanos() >= 0 ? 0
                                : recording.interludeNanos(taking.takenAt(), taking.closedAt()));
                long compute = Math.min(held, end - taking.takenAt() - apart);
                steps.add(new Step(accounts.get(i), waits.get(i), end - taking.requestedAt() - apart,
                        Math.max(0, compute)));
            }
        }
        return steps;
    }

    private static List<Step> onDevice(Recording recording) {
        List<BatchAccount> accounts = recording.accounts();
        List<Wait> waits = Attribution.of(recording);
        List<Step> steps = new ArrayList<>(accounts.size());
        for (int i = 0; i < accounts.size(); i++) {
            OnDevice clock = Objects.requireNonNull(accounts.get(i).onDevice());
            long busy = clock.exposedNanos() + clock.computeNanos();
            long apart = !recording.goesOn(i) ? 0 : recording.interludeNanos(accounts.get(i).taking().takenAt(),
                    accounts.get(i + 1).taking().requestedAt());
            steps.add(new Step(accounts.get(i), waits.get(i).onDevice(clock),
                    recording.goesOn(i) ? Math.max(busy, clock.stepNanos() - apart) : busy,
                    clock.markedOrComputeNanos()));
        }
        return steps;
    }

    /** Excludes the first batches of epochs, whose waits are reported separately, unless there are no others. */
    static List<Step> steady(List<Step> steps) {
        List<Step> steady = steps.stream().filter(step -> !step.account().first()).toList();
        return steady.isEmpty() ? steps : steady;
    }
}
