/**
 * Tells which stage holds training back, by how much, and what to change.
 *
 * <p>A loader {@linkplain io.penstock.telemetry.BatchAccount accounts} for every batch. From these accounts and nothing
 * else, {@link io.penstock.diagnose.Attribution} splits each wait of the trainer into
 * {@linkplain io.penstock.diagnose.Cause causes}, {@link io.penstock.diagnose.Verdict} names what that means,
 * {@link io.penstock.diagnose.WhatIf} predicts what other settings would do, and
 * {@link io.penstock.diagnose.Summary} writes it down.
 */
package io.penstock.diagnose;
