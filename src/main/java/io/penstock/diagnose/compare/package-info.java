// SPDX-License-Identifier: Apache-2.0
/**
 * Tells whether and where a run is slower than another one, beyond the noise of both. Start at
 * {@link io.penstock.diagnose.compare.Comparison}.
 */
@NullMarked
package io.penstock.diagnose.compare;

import org.jspecify.annotations.NullMarked;
