// SPDX-License-Identifier: Apache-2.0
/**
 * Finds a loader's settings by measuring: which workers, prefetch, read mode and device slots load the user's data
 * fastest on this machine, and the cheapest of those equally fast.
 *
 * <pre>
 *   SearchSpace ──▶ Tuner ──a Race per setting──▶ Workbench ──a Round──▶ DataLoader, opened anew
 *                     │          │
 *                     │          └ PairedRounds: which are slower, equally fast, or undecided
 *                     └──▶ Tuning: curves, the choice, and why ──▶ LoaderSettings, TuningChart
 * </pre>
 *
 * <p>Rounds are short and alternate, so that other load on the machine hits all settings alike, and settings are
 * compared within a round. Start at {@link io.penstock.tune.Tuner}.
 */
@NullMarked
package io.penstock.tune;

import org.jspecify.annotations.NullMarked;
