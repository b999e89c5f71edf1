// SPDX-License-Identifier: Apache-2.0
/**
 * Reads JPEG and PNG to pixels in memory, and resizes pixels.
 *
 * <p>An {@link io.penstock.image.reading.ImageReader} belongs to one thread and reuses its buffers. It reads untrusted
 * bytes, and checks an image's header before it decodes pixels.
 */
@NullMarked
package io.penstock.image.reading;

import org.jspecify.annotations.NullMarked;
