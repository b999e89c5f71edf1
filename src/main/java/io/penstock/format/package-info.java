// SPDX-License-Identifier: Apache-2.0
/**
 * Code that several formats share: fingerprints, runs of tokens, digests of records.
 *
 * <p>Each sub-package reads and writes one format.
 */
@NullMarked
package io.penstock.format;

import org.jspecify.annotations.NullMarked;
