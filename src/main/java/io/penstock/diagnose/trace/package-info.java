/** Steps as a trace for Perfetto and Chrome: {@link io.penstock.diagnose.trace.ChromeTrace}. */
package io.penstock.diagnose.trace;
