// SPDX-License-Identifier: Apache-2.0
/** Atomic files: written under a temporary name, synced, and renamed. */
@NullMarked
package io.penstock.io.publish;

import org.jspecify.annotations.NullMarked;
