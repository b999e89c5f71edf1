// SPDX-License-Identifier: Apache-2.0
/**
 * Alerts on a running loader: training waits for input, or is slower than it should be.
 */
@NullMarked
package io.penstock.diagnose.alert;

import org.jspecify.annotations.NullMarked;
