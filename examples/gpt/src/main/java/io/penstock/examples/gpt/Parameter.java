// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

/**
 * A tensor that is trained.
 *
 * @param name its name, as in GPT-2's own checkpoints
 * @param mean the optimizer's running mean of the gradient
 * @param square and of its square
 */
record Parameter(String name, long[] shape, Floats weight, Floats gradient, Floats mean, Floats square) {

    static Parameter of(Ops ops, String name, int... shape) {
        long[] dims = new long[shape.length];
        int size = 1;
        for (int d = 0; d < shape.length; d++) {
            dims[d] = shape[d];
            size *= shape[d];
        }
        return new Parameter(name, dims, ops.allocate(size), ops.allocate(size), ops.allocate(size),
                ops.allocate(size));
    }

    boolean isMatrix() {
        return shape.length == 2;
    }
}
