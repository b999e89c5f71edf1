/**
 * A watch on data that changes quietly: what is in the batches, measured on a sample of them, over epochs and against a
 * saved baseline.
 *
 * <pre>
 *   worker ──filled slab──▶ DataStatistics ──one epoch, or all──▶ DataProfile ──save, merge──▶ file
 *                                │                                    │
 *                                └────────── DataDrift.compare ◀──────┘──▶ DataFinding
 * </pre>
 *
 * <p>Batches are dealt over {@value io.penstock.diagnose.data.DataProfile#REPLICATES} replicates, and every number is
 * kept for each of them. How far the replicates of one epoch are apart is the noise of the sample, whatever makes it:
 * documents that repeat their words, batches of like samples, few values. A change is one that stands out of it.
 */
package io.penstock.diagnose.data;
