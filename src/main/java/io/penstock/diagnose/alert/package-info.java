// SPDX-License-Identifier: Apache-2.0
/** Alerts about a running loader, for example that training waits for input or is slower than expected. */
@NullMarked
package io.penstock.diagnose.alert;

import org.jspecify.annotations.NullMarked;
