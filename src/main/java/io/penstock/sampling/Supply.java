// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** Whether the samples of an epoch are there before it begins, and all that follows from that. */
enum Supply {

    /** Those of a dataset: all are there, and any may be read again. */
    STORED {
        @Override
        long existing(long position, int rank, long end) {
            return position % end;
        }

        @Override
        long arrivedFrom(long origin) {
            return Long.MAX_VALUE;
        }

        @Override
        int mostBatches() {
            return Integer.MAX_VALUE;
        }
    },

    /** Those of a stream: they arrive one after another, in one endless epoch, and only the latest are kept. */
    ARRIVING {
        @Override
        long existing(long position, int rank, long end) {
            long step = position - rank;
            return step + rank % Math.max(1, end - step);
        }

        @Override
        long arrivedFrom(long origin) {
            return origin;
        }

        @Override
        int mostBatches() {
            return 1 << 17;
        }
    };

    /**
     * Returns the position whose sample a rank takes at a surplus one, which is not before the end of the positions
     * that exist. A dataset begins again; of a stream, the head is not kept, so the ranks behind its end repeat samples
     * of those before it in the same step.
     */
    abstract long existing(long position, int rank, long end);

    /** Returns the first position whose sample is not there when an epoch begins at a position. */
    abstract long arrivedFrom(long origin);

    /** Returns how many batches may be in use at the same time. */
    abstract int mostBatches();
}
