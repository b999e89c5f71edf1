// SPDX-License-Identifier: Apache-2.0
/**
 * What users say of images: the pixels they want, how files are decoded, how images are brought to one size, what the
 * steps of a pipeline are set to and draw, and what moves with an image.
 *
 * <p>Pixels are packed {@code u8}, height by width by channels, in a {@link io.penstock.image.PixelFormat}. An
 * {@link io.penstock.pictures.ImageDecoder} turns the files of a dataset into them.
 */
@NullMarked
package io.penstock.image;

import org.jspecify.annotations.NullMarked;
