// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.Arrays;

/** The loss of a row of logits: −log softmax(logits)[label]. */
final class CrossEntropy {

    private CrossEntropy() {
    }

    /** Returns the loss, and replaces the logits by its gradient times {@code scale}. */
    static double row(float[] logits, int at, int count, int label, float scale) {
        if (label < 0) {
            Arrays.fill(logits, at, at + count, 0);
            return 0;
        }
        float max = Rows.max(logits, at, count);
        float ofLabel = logits[at + label] - max;
        Rows.exp(logits, at, count, 1, max);
        float sum = Rows.sum(logits, at, count);
        float factor = scale / sum;
        for (int i = at; i < at + count; i++) {
            logits[i] *= factor;
        }
        logits[at + label] -= scale;
        return StrictMath.log(sum) - ofLabel;
    }
}
