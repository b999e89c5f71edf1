// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

/**
 * What a lease checks: whether any thread may use it, not only the one that took it, and whether a slot reuses its
 * lease for each batch.
 */
public record LeaseTerms(boolean anyThread, boolean reused) {
}
