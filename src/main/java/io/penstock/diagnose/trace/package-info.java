// SPDX-License-Identifier: Apache-2.0
/** Steps as a trace for Perfetto and Chrome: {@link io.penstock.diagnose.trace.ChromeTrace}. */
@NullMarked
package io.penstock.diagnose.trace;

import org.jspecify.annotations.NullMarked;
