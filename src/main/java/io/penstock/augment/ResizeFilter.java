// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.image.Resizer;

/** How pixels are weighed when an image is resized. All but the nearest pixel antialias, with Pillow's bits. */
public enum ResizeFilter {
    /** The pixel at {@code floor(i · scale)}, as torchvision takes it; masks are always resized so. */
    NEAREST,
    /** The mean of the area under a pixel of the result. */
    BOX,
    /** A triangle, two pixels wide or wider by the reduction: torchvision's default. */
    BILINEAR,
    /** A cubic, four pixels wide or wider by the reduction: timm's default for many models. */
    BICUBIC;

    private static final ResizeFilter[] ALL = values();

    /** Returns a resizer for each filter, by its ordinal; that of the nearest pixel is not used. */
    static Resizer[] resizers() {
        Resizer[] resizers = new Resizer[ALL.length];
        for (int i = 0; i < ALL.length; i++) {
            resizers[i] = new Resizer(switch (ALL[i]) {
                case BOX -> Resizer.Filter.BOX;
                case NEAREST, BILINEAR -> Resizer.Filter.BILINEAR;
                case BICUBIC -> Resizer.Filter.BICUBIC;
            });
        }
        return resizers;
    }
}
