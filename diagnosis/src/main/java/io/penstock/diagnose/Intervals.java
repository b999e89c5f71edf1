// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.List;

/** Overlap of periods. */
final class Intervals {

    static long overlapNanos(long begin, long end, long otherBegin, long otherEnd) {
        return Math.max(0, Math.min(end, otherEnd) - Math.max(begin, otherBegin));
    }

    /** The part of a period covered by pauses, which are in order and do not overlap. */
    static long overlapNanos(List<Recording.Stretch> pauses, long begin, long end) {
        long sum = 0;
        for (int i = firstEndingAfter(pauses, begin); i < pauses.size() && pauses.get(i).beginAt() < end; i++) {
            sum += overlapNanos(begin, end, pauses.get(i).beginAt(), pauses.get(i).endAt());
        }
        return sum;
    }

    private static int firstEndingAfter(List<Recording.Stretch> pauses, long at) {
        int low = 0;
        int high = pauses.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (pauses.get(middle).endAt() <= at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
