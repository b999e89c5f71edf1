// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;

/** Lends batches and takes them back. Any thread may call it. */
public interface Lender {

    /** Makes a stream of this device wait for the bytes of a lent batch. */
    void makeWait(Lease lease, DeviceStream stream);

    /** Enqueues a copy of a lent batch's slab. */
    void copyToHost(Lease lease, DeviceStream stream, PinnedBuffer target);

    /** Copies a lent batch's slab to host memory of its size, once its bytes are there. */
    void copyToHost(Lease lease, MemorySegment target);

    /**
     * Makes a consumer of DLPack tensors find the batch's bytes: its stream waits for them, and counts as one that uses
     * the batch. Host memory is waited for here.
     *
     * @param stream the consumer's, by DLPack's convention: 1 the legacy default stream, 2 the thread's, or a handle
     */
    void makeConsumerWait(Lease lease, long stream);

    /**
     * Orders the reuse of a lent batch's slot behind the streams that used the batch, and releases the batch with
     * {@link Lease#released}. Called once per batch.
     *
     * @throws IllegalStateException if the calling thread cannot do this; the batch stays lent
     * @throws RuntimeException if the slot's reuse cannot be ordered: the batch is released, and the loader has failed
     */
    void release(Lease lease);

    /**
     * Takes a released batch's slot back, when nothing holds it. Never blocks, calls no device and throws nothing,
     * because the caller may be native code, {@code inDeleter}.
     */
    void giveBack(Lease lease, boolean inDeleter);
}
