/**
 * Metrics for Micrometer, and through it for whatever it exports to. The one package that needs the library
 * {@code micrometer-core}; the engine runs without it.
 */
package io.penstock.diagnose.micrometer;
