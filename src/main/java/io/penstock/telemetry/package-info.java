// SPDX-License-Identifier: Apache-2.0
/**
 * A loader's telemetry. A loader reports events to a {@link io.penstock.telemetry.LoaderProbe}; from them come running
 * totals ({@link io.penstock.telemetry.LoaderReport}), the accounts of the latest batches
 * ({@link io.penstock.telemetry.Accounts}), JFR events, and ranges for NVIDIA's tools.
 *
 * <pre>
 *   loader ──▶ LoaderProbe ──┬─▶ totals        always
 *                            ├─▶ accounts      ─┐
 *                            ├─▶ JFR events     ├ unless the loader keeps no accounts
 *                            └─▶ NVTX ranges   ─┘ if a tool listens
 * </pre>
 *
 * <p>A probe is called for every batch, so it takes only nanoseconds and allocates nothing.
 */
@NullMarked
package io.penstock.telemetry;

import org.jspecify.annotations.NullMarked;
