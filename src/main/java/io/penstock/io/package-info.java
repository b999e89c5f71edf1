// SPDX-License-Identifier: Apache-2.0
/**
 * Where bytes are, and how they are read: local files, and files of other places that a service provides.
 *
 * <p>A {@link io.penstock.io.Location} names a file of a {@link io.penstock.io.FileSource}; opened, it is a
 * {@link io.penstock.io.MappedFile}, which is checked for changes while it is read. Only regular files are opened. A
 * {@link io.penstock.io.Span} points at bytes of a mapped file or of memory; a {@link io.penstock.io.SpanReader} copies
 * them. A place that is not local implements {@link io.penstock.io.FileSource.Provider},
 * {@link io.penstock.io.RangeFetcher} and, if it wants to know what will be read, {@link io.penstock.io.FetchAhead}.
 */
@NullMarked
package io.penstock.io;

import org.jspecify.annotations.NullMarked;
