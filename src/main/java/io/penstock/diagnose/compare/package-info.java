/**
 * Tells whether a run is slower than another one, beyond the noise of both, and what of it is.
 * {@link io.penstock.diagnose.compare.Comparison} is where to begin.
 */
package io.penstock.diagnose.compare;
