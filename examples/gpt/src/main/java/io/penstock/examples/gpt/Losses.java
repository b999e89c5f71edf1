// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.List;

/**
 * Sums of losses, kept where the kernels compute. Reading them waits until the kernels are done: on a GPU that is done
 * rarely, so that steps are enqueued ahead of those that run.
 */
interface Losses {

    /** The losses of some labels. */
    record Sum(double loss, long labels) {

        double mean() {
            return loss / labels;
        }
    }

    /** How many sums there is room for. */
    int slots();

    /** Returns the first {@code count} sums, and sets them to 0. */
    List<Sum> read(int count);
}
