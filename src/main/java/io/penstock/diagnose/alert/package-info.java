/**
 * Alerts on a running loader: training waits for input, or is slower than it should be.
 */
package io.penstock.diagnose.alert;
