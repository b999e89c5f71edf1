// SPDX-License-Identifier: Apache-2.0
/**
 * How a loader records what happens to its batches. It reports events to a
 * {@link io.penstock.telemetry.recording.LoaderProbe}; from them come running totals, the accounts of the latest
 * batches, JFR events, and ranges for NVIDIA's tools.
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
package io.penstock.telemetry.recording;

import org.jspecify.annotations.NullMarked;
