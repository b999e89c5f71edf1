// SPDX-License-Identifier: Apache-2.0
/**
 * The threads that fill slots. A {@link io.penstock.loader.workers.Worker} claims a batch, waits for its slot, lets a
 * {@link io.penstock.loader.workers.BatchMaker} build the batch in it, and publishes it.
 */
@NullMarked
package io.penstock.loader.workers;

import org.jspecify.annotations.NullMarked;
