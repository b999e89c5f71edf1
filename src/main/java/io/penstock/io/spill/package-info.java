/**
 * Disk space for data that is decoded once and read many times.
 */
package io.penstock.io.spill;
