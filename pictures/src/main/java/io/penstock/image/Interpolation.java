// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/** How an image is read between its pixels. */
public enum Interpolation {
    /** The nearest pixel; for masks, and torchvision's default for rotations. */
    NEAREST,
    /** The four nearest pixels, weighed by distance. */
    BILINEAR
}
