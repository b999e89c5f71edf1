// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/** Takes the rows of an image one after the other, from the top. */
@FunctionalInterface
public interface PixelRows {

    /**
     * Takes a row, numbered from 0: an array of values, 0 to 255, per channel, which may be longer than the row and is
     * valid for this call only.
     */
    void row(int row, int[][] channels);
}
