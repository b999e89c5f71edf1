/**
 * Conditions on a running loader that somebody wants to be told of: training waits for input, or goes slower than it
 * should.
 */
package io.penstock.diagnose.alert;
