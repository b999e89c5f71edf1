// SPDX-License-Identifier: Apache-2.0
/**
 * What a loader measures about itself: running totals ({@link io.penstock.telemetry.LoaderReport}) and where the time
 * of each of the latest batches went ({@link io.penstock.telemetry.Accounts}).
 */
@NullMarked
package io.penstock.telemetry;

import org.jspecify.annotations.NullMarked;
