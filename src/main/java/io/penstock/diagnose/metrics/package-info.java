/**
 * What is measured, once, for all who read it: a line of the log, JMX, a Prometheus endpoint, and Micrometer in a
 * package of its own.
 *
 * <pre>
 *   DataLoader, DataStatistics ──▶ Metrics ──▶ MetricsLog, MetricsBean, PrometheusEndpoint, …
 * </pre>
 *
 * <p>Nothing is measured for the sake of a reader: metrics are views of totals that the engine keeps anyhow. None has
 * a label that grows with the run, such as a batch or a step.
 */
package io.penstock.diagnose.metrics;
