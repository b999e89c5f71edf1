// SPDX-License-Identifier: Apache-2.0
/**
 * Metrics, measured once for all exporters: log lines, JMX, a Prometheus endpoint, and Micrometer in its own package.
 *
 * <pre>
 *   DataLoader, DataStatistics ──▶ Metrics ──▶ MetricsLog, MetricsBean, PrometheusEndpoint, …
 * </pre>
 *
 * <p>Exporters add no measurements: metrics are views of totals that the engine keeps anyway. No label grows with the
 * run, such as a batch or a step.
 */
@NullMarked
package io.penstock.diagnose.metrics;

import org.jspecify.annotations.NullMarked;
