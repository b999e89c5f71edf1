/**
 * What is told of a loader: {@link io.penstock.telemetry.LoaderProbe} is what a loader calls as things happen, and
 * behind it stand running totals ({@link io.penstock.telemetry.LoaderReport}), the accounts of the latest batches
 * ({@link io.penstock.telemetry.Accounts}), events of the JDK's flight recorder and ranges for NVIDIA's tools.
 *
 * <pre>
 *   loader ──▶ LoaderProbe ──┬─▶ totals        always
 *                            ├─▶ accounts      ─┐
 *                            ├─▶ JFR events     ├ unless the loader keeps no accounts
 *                            └─▶ NVTX ranges   ─┘ if a tool listens
 * </pre>
 *
 * <p>A probe is called for every batch: it costs nanoseconds, and nothing on the heap.
 */
package io.penstock.telemetry;
