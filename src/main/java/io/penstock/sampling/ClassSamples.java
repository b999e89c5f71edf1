// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;

/** The samples of each class, in consecutive runs. */
final class ClassSamples {

    private final int[] samples;
    private final int[] starts;
    private final String digest;

    /** Groups samples by class: numbers from 0, each with at least one sample. */
    ClassSamples(int[] classes) {
        int last = -1;
        for (int each : classes) {
            if (each < 0) {
                throw new IllegalArgumentException("class " + each + ", expected 0 or more");
            }
            last = Math.max(last, each);
        }
        if (last >= classes.length || last < 0) {
            throw new IllegalArgumentException("classes up to " + last + " of " + classes.length
                    + " samples, expected at least one of each class");
        }
        int count = last + 1;
        starts = new int[count + 1];
        for (int each : classes) {
            starts[each + 1]++;
        }
        for (int c = 0; c < count; c++) {
            if (starts[c + 1] == 0) {
                throw new IllegalArgumentException("class " + c + " has no sample, expected one at least of each of "
                        + count + " classes");
            }
            starts[c + 1] += starts[c];
        }
        samples = new int[classes.length];
        int[] next = starts.clone();
        for (int i = 0; i < classes.length; i++) {
            samples[next[classes[i]]++] = i;
        }
        digest = Sha256.hex(classes.length, i -> classes[(int) i]);
    }

    int classes() {
        return starts.length - 1;
    }

    int total() {
        return samples.length;
    }

    int size(int c) {
        return starts[c + 1] - starts[c];
    }

    long sample(int c, long index) {
        return samples[starts[c] + (int) index];
    }

    /** Returns the shuffled order of each class, in any of its epochs. */
    OrderCache[] shuffled(long seed) {
        OrderCache[] orders = new OrderCache[classes()];
        for (int c = 0; c < orders.length; c++) {
            orders[c] = new OrderCache(Sampler.shuffled(size(c), SplitMix64.first(SplitMix64.first(seed) + c)));
        }
        return orders;
    }

    @Override
    public String toString() {
        return total() + " samples of " + classes() + " classes:" + digest;
    }
}
