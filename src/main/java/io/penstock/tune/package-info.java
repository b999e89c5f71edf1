/**
 * Finds a loader's settings by measuring: which workers, prefetch, read mode and device slots load the user's own data
 * fastest on this machine, and which of those that are equally fast cost least.
 *
 * <pre>
 *   SearchSpace ──▶ Tuner ──one Race a setting──▶ Workbench ──a Round──▶ DataLoader, opened anew
 *                     │          │
 *                     │          └ PairedRounds: who is slower, who is the same, who cannot be told apart
 *                     └──▶ Tuning: curves, the choice, and why ──▶ LoaderSettings, TuningChart
 * </pre>
 *
 * <p>Rounds are short and take turns, so that what else the machine does hits all settings alike, and settings are
 * compared within a round. {@link io.penstock.tune.Tuner} is where to start.
 */
@NullMarked
package io.penstock.tune;

import org.jspecify.annotations.NullMarked;
