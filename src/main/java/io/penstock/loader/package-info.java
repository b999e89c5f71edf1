// SPDX-License-Identifier: Apache-2.0
/**
 * The loader: start at {@link io.penstock.loader.DataLoader}. It opens a ring of slots ({@code loader.slots}) and
 * the threads that fill it, and lends each batch to the trainer as a {@link io.penstock.loader.Batch}.
 *
 * <p>All memory is allocated when the loader opens. The ring bounds it; when the ring is full, the workers wait.
 */
@NullMarked
package io.penstock.loader;

import org.jspecify.annotations.NullMarked;
