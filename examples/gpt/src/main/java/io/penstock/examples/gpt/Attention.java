// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.Arrays;

/**
 * Causal self-attention within documents, for one head of one sequence. A token attends to itself and to the tokens
 * before it in its document; how many there are is the token's position, which the packer restarts at each document.
 */
final class Attention {

    private static final ThreadLocal<float[]> SCRATCH = ThreadLocal.withInitial(() -> new float[0]);

    private Attention() {
    }

    /** The columns of a head in the rows of a sequence. */
    record Head(Matrix query, Matrix key, Matrix value) {

        static Head of(Matrix queriesKeysValues, int firstRow, int context, int head, int headSize) {
            int width = queriesKeysValues.columns() / 3;
            return new Head(queriesKeysValues.block(firstRow, head * headSize, context, headSize),
                    queriesKeysValues.block(firstRow, width + head * headSize, context, headSize),
                    queriesKeysValues.block(firstRow, 2 * width + head * headSize, context, headSize));
        }

        float scale() {
            return (float) (1 / Math.sqrt(query.columns()));
        }
    }

    /** @param weights becomes softmax(q·kᵀ / √size), 0 where a token does not attend */
    static void forward(Head head, int[] positions, int firstRow, Matrix weights, Matrix out) {
        Matmul.multiply(head.query, head.key.transposed(), weights, false);
        float[] w = weights.array();
        for (int t = 0; t < weights.rows(); t++) {
            int start = weights.at(t, 0);
            int first = start + t - positions[firstRow + t];
            int end = start + t + 1;
            float max = head.scale() * Rows.max(w, first, end - first);
            Rows.exp(w, start, weights.columns(), head.scale(), max);
            Arrays.fill(w, start, first, 0);
            Arrays.fill(w, end, start + weights.columns(), 0);
            float inverse = 1 / Rows.sum(w, first, end - first);
            for (int i = first; i < end; i++) {
                w[i] *= inverse;
            }
        }
        Matmul.multiply(weights, head.value, out, false);
    }

    static void backward(Head head, Matrix weights, Matrix dOut, Head gradient) {
        Matmul.multiply(weights.transposed(), dOut, gradient.value, false);
        Matrix dWeights = scratch(weights.rows(), weights.columns());
        Matmul.multiply(dOut, head.value.transposed(), dWeights, false);
        float[] w = weights.array();
        float[] d = dWeights.array();
        for (int t = 0; t < weights.rows(); t++) {
            int at = weights.at(t, 0);
            int dAt = dWeights.at(t, 0);
            float along = Rows.dot(w, at, d, dAt, t + 1);
            for (int i = 0; i < weights.columns(); i++) {
                d[dAt + i] = w[at + i] * (d[dAt + i] - along) * head.scale();
            }
        }
        Matmul.multiply(dWeights, head.key, gradient.query, false);
        Matmul.multiply(dWeights.transposed(), head.query, gradient.key, false);
    }

    private static Matrix scratch(int rows, int columns) {
        if (SCRATCH.get().length < rows * columns) {
            SCRATCH.set(new float[rows * columns]);
        }
        return new Matrix(SCRATCH.get(), 0, rows, columns, columns, 1);
    }
}
