// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/** Takes the rows of an image one after the other, from the top. */
@FunctionalInterface
public interface PixelRows {

    /**
     * Takes a row.
     *
     * @param row its number, from 0
     * @param planes the values, 0 to 255, channel by channel: that of channel c and column x is at
     *     {@code c * stride + x}; for this call only
     * @param stride the distance of two channels, at least the row's pixels
     */
    void row(int row, int[] planes, int stride);
}
