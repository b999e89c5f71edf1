// SPDX-License-Identifier: Apache-2.0
/**
 * Tells which stage limits training, by how much, and what to change.
 *
 * <p>A loader {@linkplain io.penstock.telemetry.BatchAccount accounts} for every batch. From these accounts alone,
 * {@link io.penstock.diagnose.Attribution} splits each wait of the trainer into
 * {@linkplain io.penstock.diagnose.Cause causes}, {@link io.penstock.diagnose.Verdict} interprets them,
 * a replay predicts the effect of other settings, and {@link io.penstock.diagnose.Summary} records the result.
 */
@NullMarked
package io.penstock.diagnose;

import org.jspecify.annotations.NullMarked;
