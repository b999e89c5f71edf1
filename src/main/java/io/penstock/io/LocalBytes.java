// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

/** The bytes of a local file: all are present, and none is dropped. */
enum LocalBytes implements RangeFetcher {

    INSTANCE;

    @Override
    public boolean isPresent(long offset, long bytes) {
        return true;
    }

    @Override
    public void fetch(long offset, long bytes, FetchWaits waits) {
        // present
    }

    @Override
    public void keep(long offset, long bytes) {
        // present, and never dropped
    }

    @Override
    public boolean isWhole(long drops) {
        return true;
    }

    @Override
    public void prefetch(long offset, long bytes) {
        // present
    }

    @Override
    public long mostAhead() {
        return 0;
    }

    @Override
    public void close() {
        // holds nothing
    }
}
