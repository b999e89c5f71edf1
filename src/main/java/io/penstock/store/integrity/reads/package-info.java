// SPDX-License-Identifier: Apache-2.0
/** Verifies the blocks that a loader reads, once each. */
@NullMarked
package io.penstock.store.integrity.reads;

import org.jspecify.annotations.NullMarked;
