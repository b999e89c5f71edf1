// SPDX-License-Identifier: Apache-2.0
/**
 * Metrics, measured once for all exporters: a Prometheus endpoint and Micrometer.
 *
 * <pre>
 *   DataLoader, DataStatistics ──▶ Metrics ──▶ PrometheusEndpoint, PenstockMeters
 * </pre>
 *
 * <p>Exporters add no measurements: metrics are views of totals that the engine keeps anyway. No label grows with the
 * run, such as a batch or a step.
 */
@NullMarked
package io.penstock.diagnose.metrics;

import org.jspecify.annotations.NullMarked;
