// SPDX-License-Identifier: Apache-2.0
/**
 * The loader: {@link io.penstock.loader.DataLoader} is where to start. It opens a ring of slots
 * ({@code loader.slots}) and the threads that fill it ({@code loader.workers}), and lends each batch to the trainer as
 * a {@link io.penstock.loader.Batch}.
 *
 * <p>Everything is allocated when the loader is opened: the ring bounds memory, and being full is the backpressure.
 */
@NullMarked
package io.penstock.loader;

import org.jspecify.annotations.NullMarked;
