// SPDX-License-Identifier: Apache-2.0
/**
 * Decodes JPEG and PNG to pixels in memory, and resizes pixels.
 *
 * <p>Pixels are packed {@code u8}, height by width by channels, in a {@link io.penstock.image.PixelFormat}. An
 * {@link io.penstock.image.ImageReader} belongs to one thread and reuses its buffers. It reads untrusted bytes, and
 * checks an image's header before it decodes pixels.
 */
@NullMarked
package io.penstock.image;

import org.jspecify.annotations.NullMarked;
