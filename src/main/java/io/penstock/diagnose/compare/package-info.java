/**
 * Tells whether and where a run is slower than another one, beyond the noise of both. Start at
 * {@link io.penstock.diagnose.compare.Comparison}.
 */
package io.penstock.diagnose.compare;
