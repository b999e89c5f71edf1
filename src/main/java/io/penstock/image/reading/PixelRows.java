// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/** Takes the rows of an image one after the other, from the top. */
@FunctionalInterface
public interface PixelRows {

    /**
     * Takes a row, numbered from 0.
     *
     * @param channels the values, 0 to 255, of each channel: an array for each, which may be longer than the row; for
     *     this call only
     */
    void row(int row, int[][] channels);
}
