/**
 * Collators: they write the samples of one batch into one slab, the only copy that the CPU makes of the data.
 *
 * <p>A collator is a value: immutable, shared by all workers. It says which fields a batch has and how large they can
 * be before the loader allocates anything, so that a loader's memory is known when it is opened.
 */
@NullMarked
package io.penstock.collate;

import org.jspecify.annotations.NullMarked;
