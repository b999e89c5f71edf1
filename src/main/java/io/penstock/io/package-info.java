// SPDX-License-Identifier: Apache-2.0
/**
 * Files as byte ranges: opened, mapped, read, and checked for changes while read.
 *
 * <p>Only regular files are opened. A {@link io.penstock.io.Span} points at bytes of a mapped file or of memory; a
 * {@link io.penstock.io.SpanReader} copies them.
 */
@NullMarked
package io.penstock.io;

import org.jspecify.annotations.NullMarked;
