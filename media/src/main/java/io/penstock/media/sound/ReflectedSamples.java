// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;

/** Samples in an array, with their mirror image at both ends; for one thread. */
final class ReflectedSamples {

    private float[] values = {};

    /**
     * Reads samples.
     *
     * @param margin the mirrored samples at either end: the first and the last sample are not repeated
     * @return the array: {@code margin} samples, those that were read, {@code margin} samples, and anything behind
     */
    float[] read(MemorySegment in, long offset, long count, int margin) {
        int length = Samples.count(count);
        check(length, margin);
        if (values.length < length + 2 * margin) {
            values = new float[Math.max(length + 2 * margin, (int) Math.min(Samples.MOST, 2L * values.length))];
        }
        Samples.read(in, offset, values, margin, length);
        int last = margin + length - 1;
        for (int i = 1; i <= margin; i++) {
            values[margin - i] = values[margin + i];
            values[last + i] = values[last - i];
        }
        return values;
    }

    /** Checks that there are enough samples to mirror. */
    static void check(long count, int margin) {
        if (count <= margin) {
            throw new CodecException("sound of " + count + " samples", "more than " + margin + ", half a window");
        }
    }
}
