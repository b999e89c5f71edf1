// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.loader.slots.GuardedMemory;
import io.penstock.loader.slots.LeaseTerms;

/**
 * What a {@link Batch} checks, and what that costs. In every mode a batch throws once it is closed; the modes differ in
 * what the tensors and segments that it gave do then, and in who may use it.
 *
 * <p>The JVM checks Java code alone. Native code that keeps an address reads whatever is there later, in every mode.
 * {@code -Dpenstock.leases=paranoid} finds it: each batch then has pages of its own, which cannot be read any more once
 * it is closed, and {@link #REUSED} checks as {@link #SHARED} does.
 */
public enum LeaseMode {

    /**
     * A batch belongs to the thread that took it, and so does what it gives. What is read after {@link Batch#close}
     * throws, and never shows a later batch's bytes. Costs some two hundred bytes of heap a batch.
     */
    CONFINED,

    /**
     * As {@link #CONFINED}, but any thread may read and close a batch. Costs tens of microseconds a batch whose tensors
     * were read, for a handshake with all threads at close.
     */
    SHARED,

    /**
     * Every slot has one {@link Batch}, lent again with each batch in it, and so are its tensors and segments, as long
     * as shapes stay the same: once each slot has been lent, a batch costs no byte of heap.
     *
     * <p>What is not checked any more: a tensor or a segment that is read after {@link Batch#close}, or on another
     * thread, shows the bytes that its slot has then, which may be those of a later batch, or half of them; and a
     * {@code Batch} that is kept throws only until its slot is lent again: then it is that later batch, which a second
     * {@code close} ends. So this is for trainers that let go of everything at the end of a step, as
     * try-with-resources does. Reading after the loader is closed throws; memory is safe in any case.
     */
    REUSED;

    LeaseTerms terms() {
        return GuardedMemory.IS_ON ? new LeaseTerms(this != CONFINED, false)
                : new LeaseTerms(this == SHARED, this == REUSED);
    }
}
