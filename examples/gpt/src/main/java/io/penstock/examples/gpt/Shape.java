// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

/**
 * The sizes of a model.
 *
 * @param vocabulary rows of the embedding, the vocabulary rounded up to a multiple of {@link Matmul#MULTIPLE}
 * @param context tokens in a sequence
 * @param layers blocks of attention and MLP
 * @param heads attention heads in a block
 * @param width floats of a token's state
 */
record Shape(int vocabulary, int context, int layers, int heads, int width) {

    Shape {
        multiple("vocabulary", vocabulary);
        multiple("--context", context);
        multiple("--width", width);
        if (layers < 1 || heads < 1 || width % heads != 0) {
            throw new IllegalArgumentException(layers + " layers of " + heads + " heads and width " + width
                    + ", expected at least one of each, and heads that divide the width");
        }
        multiple("--width divided by --heads", width / heads);
    }

    private static void multiple(String what, int found) {
        if (found < 1 || found % Matmul.MULTIPLE != 0) {
            throw new IllegalArgumentException(what + ": found " + found + ", expected a multiple of "
                    + Matmul.MULTIPLE);
        }
    }

    int headSize() {
        return width / heads;
    }

    /** Multiplications and additions to train on one token, as usually counted: 6 for each weight of a matrix. */
    double flopsPerToken() {
        return 6.0 * (12.0 * layers * width * width + (double) vocabulary * width)
                + 12.0 * layers * width * context;
    }
}
