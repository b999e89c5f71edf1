// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.io.SpanReader;
import java.util.Arrays;

/** The bytes of packets, of which neighbors are one run: between those of video there may be those of sound. */
final class PacketRuns implements SpanReader.Runs {

    private long[] bounds = new long[2];
    private int count;
    private long first;
    private long end;

    void clear() {
        count = 0;
        first = 0;
        end = 0;
    }

    void add(long position, long size) {
        first = count == 0 ? position : Math.min(first, position);
        end = Math.max(end, position + size);
        if (count == 0 || bounds[2 * count - 1] != position) {
            if (2 * count == bounds.length) {
                bounds = Arrays.copyOf(bounds, 2 * bounds.length);
            }
            bounds[2 * count++] = position;
        }
        bounds[2 * count - 1] = position + size;
    }

    /** The first byte of all; {@link #end()} is behind the last. Both are 0 if there are none. */
    long first() {
        return first;
    }

    long end() {
        return end;
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public long begin(int run) {
        return bounds[2 * run];
    }

    @Override
    public long end(int run) {
        return bounds[2 * run + 1];
    }
}
