// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

/**
 * Room around what two threads hand over: a value that one thread writes and another reads often is kept in the middle
 * of an array of {@link #SLOTS} elements, so that no neighbour on the heap shares its cache line. A line that is
 * written on one core and read on another costs some hundred nanoseconds each time.
 */
public final class CacheLine {

    /** Elements of an array that holds one value: 128 bytes on either side, of elements of 4 bytes or more. */
    public static final int SLOTS = 64;
    /** Where the value is. */
    public static final int MIDDLE = 32;

    private CacheLine() {
    }
}
