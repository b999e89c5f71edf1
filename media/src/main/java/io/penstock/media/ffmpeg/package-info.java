// SPDX-License-Identifier: Apache-2.0
/**
 * FFmpeg's libraries 5.1 to 8, bound at run time: opening containers, decoding packets.
 *
 * <p>Pointers are passed as numbers, because a segment would be an object for each call. Each handle is wrapped in a
 * type that is never null and closes once.
 */
@NullMarked
package io.penstock.media.ffmpeg;

import org.jspecify.annotations.NullMarked;
