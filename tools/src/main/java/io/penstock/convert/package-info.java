// SPDX-License-Identifier: Apache-2.0
/**
 * Converts stores between formats: {@link io.penstock.convert.Conversion} reads any open
 * {@link io.penstock.store.Store} and writes a {@link io.penstock.convert.TargetFormat}. Only the current piece of data
 * is in memory, and the output appears complete, or not at all.
 */
@NullMarked
package io.penstock.convert;

import org.jspecify.annotations.NullMarked;
