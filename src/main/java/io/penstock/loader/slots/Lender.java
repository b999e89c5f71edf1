// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.lang.foreign.MemorySegment;

/** Who a batch is lent by, and goes back to. May be called by any thread. */
public interface Lender {

    /**
     * Makes a stream wait for the bytes of a lent batch.
     *
     * @throws IllegalArgumentException if the stream is another device's
     */
    void makeWait(Lease lease, DeviceStream stream);

    /** Enqueues a copy of a lent batch's slab. */
    void copyToHost(Lease lease, DeviceStream stream, PinnedBuffer target);

    /**
     * Copies a lent batch's slab, once its bytes are there.
     *
     * @param target any memory of the host, as large as what is to be copied
     */
    void copyToHost(Lease lease, MemorySegment target);

    /**
     * Makes a consumer of DLPack tensors find the batch's bytes: its stream is made to wait for them, and counts as one
     * that the batch is used on. Host memory is waited for here.
     *
     * @param stream the consumer's, by DLPack's convention: 1 the legacy default stream, 2 the thread's, or a handle
     */
    void makeConsumerWait(Lease lease, long stream);

    /**
     * Orders the reuse of a lent batch's slot behind the streams that the batch was used on, and lets go of the batch
     * with {@link Lease#released}. Called once a batch.
     *
     * @throws IllegalStateException if the calling thread is none that can; the batch stays lent
     * @throws RuntimeException if the slot's reuse cannot be ordered: the batch is let go of, and the loader has
     *     failed
     */
    void release(Lease lease);

    /**
     * Takes a released batch's slot back, when nothing holds it any more. Never blocks, calls no device and throws
     * nothing, since the caller may be native code.
     *
     * @param inDeleter whether it is
     */
    void giveBack(Lease lease, boolean inDeleter);
}
