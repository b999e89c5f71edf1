// SPDX-License-Identifier: Apache-2.0
/**
 * Collators write the samples of a batch into a slab, the only copy of the data that the CPU makes.
 *
 * <p>A collator is an immutable value that all workers share. It declares a batch's fields and their greatest sizes
 * before the loader allocates anything, so a loader's memory is known when it opens.
 */
@NullMarked
package io.penstock.collate;

import org.jspecify.annotations.NullMarked;
