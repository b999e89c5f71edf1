/**
 * Images in memory: JPEG and PNG to pixels, and pixels to another size.
 *
 * <p>Pixels are {@code u8}, height by width by channels, packed, as {@link io.penstock.image.PixelFormat} has them. An
 * {@link io.penstock.image.ImageReader} belongs to one thread and keeps its buffers; it reads untrusted bytes, and
 * checks what an image claims to be before it decodes it.
 */
@NullMarked
package io.penstock.image;

import org.jspecify.annotations.NullMarked;
