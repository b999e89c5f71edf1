// SPDX-License-Identifier: Apache-2.0
/**
 * A run seen while it runs: each rank offers a {@link io.penstock.diagnose.watch.RankStatus}, by HTTP or as a file in a
 * folder; {@link io.penstock.diagnose.watch.Peers} collects them, and {@link io.penstock.diagnose.watch.RunView} says
 * which rank holds the others up, and why.
 *
 * <pre>
 *   Diagnosis ──▶ RankStatus ──▶ PrometheusEndpoint or StatusFile ──▶ Peers ──▶ RunView ──▶ screen, page, JSON
 * </pre>
 */
@NullMarked
package io.penstock.diagnose.watch;

import org.jspecify.annotations.NullMarked;
