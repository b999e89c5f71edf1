/** Verifies the blocks that a loader reads, once each. */
@NullMarked
package io.penstock.store.integrity.reads;

import org.jspecify.annotations.NullMarked;
