/**
 * Exports metrics to Micrometer. The only package that needs the library {@code micrometer-core}; the engine runs
 * without it.
 */
package io.penstock.diagnose.micrometer;
