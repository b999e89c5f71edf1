// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

/**
 * What a lease checks.
 *
 * @param anyThread whether any thread may read and close it, instead of the one that took it
 * @param reused whether a slot has one lease, lent again with each batch in it
 */
public record LeaseTerms(boolean anyThread, boolean reused) {
}
