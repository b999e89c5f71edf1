/**
 * Exports metrics to Micrometer. Only this package needs the library {@code micrometer-core}.
 */
package io.penstock.diagnose.micrometer;
