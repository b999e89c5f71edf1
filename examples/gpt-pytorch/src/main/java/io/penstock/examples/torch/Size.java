// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

/**
 * How large a model is.
 *
 * @param layers transformer blocks
 * @param heads heads of attention, of {@code width / heads} each
 * @param width values of a token's vector
 */
record Size(int layers, int heads, int width) {

    /** The presets; weights are given for GPT-2's vocabulary. */
    static Size named(String name) {
        return switch (name) {
            case "nano" -> new Size(1, 1, 16);
            case "tiny" -> new Size(2, 2, 64);
            case "small" -> new Size(4, 4, 128);
            case "25m" -> new Size(8, 5, 320);
            case "125m" -> new Size(12, 12, 768);
            case "350m" -> new Size(24, 16, 1024);
            default -> throw new IllegalArgumentException("--size: found " + name
                    + ", expected nano, tiny, small, 25m, 125m or 350m");
        };
    }

    int headWidth() {
        return width / heads;
    }

    /** Of the gated layer: 8/3 of the width, so that it has as many weights as four widths without a gate. */
    int hidden() {
        return Math.ceilDiv(8 * width, 3 * 32) * 32;
    }
}
