// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.loader.slots.GuardedMemory;
import io.penstock.loader.slots.LeaseTerms;

/**
 * What a {@link Batch} checks, and the cost. In every mode a closed batch throws. The modes differ in who may use a
 * batch, and in what its tensors and segments do after it is closed.
 *
 * <p>The JVM checks only Java code. In every mode, native code that keeps an address reads whatever is there later.
 * {@code -Dpenstock.leases=paranoid} finds it: each batch then has its own pages, which become unreadable when it is
 * closed, and {@link #REUSED} checks as {@link #SHARED} does.
 */
public enum LeaseMode {

    /**
     * A batch and all it returns belong to the thread that took it. Reading them after {@link Batch#close} throws, and
     * never shows a later batch's bytes. Costs about two hundred bytes of heap per batch.
     */
    CONFINED,

    /**
     * As {@link #CONFINED}, but any thread may read and close a batch. If its tensors were read, closing it costs tens
     * of microseconds for a handshake with all threads.
     */
    SHARED,

    /**
     * Every slot has one {@link Batch}, and its tensors and segments, for all batches in it as long as shapes stay the
     * same: once each slot has been used, a batch allocates nothing on the heap.
     *
     * <p>This checks less. A tensor or segment that is read after {@link Batch#close}, or on another thread, shows the
     * slot's current bytes: those of a later batch, or half of them. A closed {@code Batch} throws only until its slot
     * is lent again; then it is that later batch, and a second {@code close} ends that one. So this is for trainers
     * that keep nothing after a step, as with try-with-resources. Reading after the loader is closed throws; memory is
     * safe in any case.
     */
    REUSED;

    LeaseTerms terms() {
        return GuardedMemory.IS_ON ? new LeaseTerms(this != CONFINED, false)
                : new LeaseTerms(this == SHARED, this == REUSED);
    }
}
