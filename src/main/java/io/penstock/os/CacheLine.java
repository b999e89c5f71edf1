// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

/**
 * Distances between values of different threads: a value that one thread writes and another reads often is in the
 * middle of an array of {@link #SLOTS} elements, so that no neighbor on the heap shares its cache line. Reading a line
 * that another core has written costs some hundred nanoseconds each time.
 */
public final class CacheLine {

    /** The length of an array that holds one value: 128 bytes on either side, if elements have 4 bytes or more. */
    public static final int SLOTS = 64;
    public static final int MIDDLE = 32;
}
