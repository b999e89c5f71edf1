// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/** How pixels are weighed when an image is resized. All but the nearest pixel antialias, with Pillow's bits. */
public enum ResizeFilter {
    /** The pixel at {@code floor(i · scale)}, as torchvision takes it; masks are always resized so. */
    NEAREST,
    /** The mean of the area under a pixel of the result. */
    BOX,
    /** A triangle, two pixels wide or wider by the reduction: torchvision's default. */
    BILINEAR,
    /** A cubic, four pixels wide or wider by the reduction: timm's default for many models. */
    BICUBIC
}
