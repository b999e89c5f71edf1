// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.dlpack.DLPackCapsule;

/**
 * Logs, once per loader, that the trainer waits for DLPack consumers to delete tensors: backpressure if they do so
 * soon, and what looks like a hang if they never do. For the trainer's thread.
 */
public final class ConsumerNotice {

    private static final System.Logger LOG = System.getLogger(ConsumerNotice.class.getName());

    private boolean given;

    void give(long n) {
        if (!given && DLPackCapsule.live() > 0) {
            given = true;
            LOG.log(System.Logger.Level.INFO, "batch {0} waits for a slot: every slot's batch is closed, but DLPack"
                    + " tensors of them are not deleted yet", Long.toString(n));
        }
    }
}
