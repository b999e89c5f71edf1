// SPDX-License-Identifier: Apache-2.0
/**
 * The threads that fill slots. A {@link io.penstock.loader.workers.Worker} claims a batch, waits for its slot, has a
 * {@link io.penstock.loader.workers.BatchMaker} make it, and publishes it; what the maker makes it of is the maker's
 * own.
 */
@NullMarked
package io.penstock.loader.workers;

import org.jspecify.annotations.NullMarked;
