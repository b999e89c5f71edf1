// SPDX-License-Identifier: Apache-2.0
/**
 * What a bridge from Penstock's batches to another framework has to keep, as tests of JUnit. A bridge's test says how
 * the framework reads a batch, by {@link io.penstock.bridge.Bridge}, and implements the contracts that apply.
 */
@NullMarked
package io.penstock.bridge;

import org.jspecify.annotations.NullMarked;
