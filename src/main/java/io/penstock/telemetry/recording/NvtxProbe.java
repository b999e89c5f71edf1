// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.nvtx.NvtxRange;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Reports to a listening NVIDIA tool: a range each for making, copying, requesting and holding a batch. */
final class NvtxProbe implements LoaderProbe, AutoCloseable {

    /** One per filling thread, and whether the thread has pushed one. */
    private final NvtxRange[] makes;
    private final boolean[] pushed;
    private final NvtxRange copy = new NvtxRange("copy");
    private final NvtxRange next = new NvtxRange("next");
    private final NvtxRange hold = new NvtxRange("hold");
    /** Copies in flight, by sequence modulo their number; empty if batches are not copied. */
    private final long[] copies;
    /** Batches that the trainer has. */
    private final Map<Long, Long> held = new ConcurrentHashMap<>();

    NvtxProbe(LoaderIdentity of, int slots) {
        makes = new NvtxRange[of.fillers()];
        Arrays.setAll(makes, _ -> new NvtxRange("make"));
        pushed = new boolean[makes.length];
        copies = new long[of.copies() ? slots : 0];
    }

    @Override
    public void planned(Filling batch) {
        makes[batch.worker].push(batch.sequence);
        pushed[batch.worker] = true;
    }

    @Override
    public void filled(Filling batch) {
        if (pushed[batch.worker]) {
            pushed[batch.worker] = false;
            makes[batch.worker].pop();
        }
    }

    @Override
    public void reached(long sequence) {
        if (copies.length > 0) {
            copies[(int) (sequence % copies.length)] = copy.start(sequence);
        }
    }

    @Override
    public void arrived(long sequence) {
        copy.end(copies[(int) (sequence % copies.length)]);
    }

    @Override
    public void requested(long sequence, EpochBounds epochs) {
        next.push(sequence);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
        next.pop();
        held.put(sequence, hold.start(sequence));
    }

    @Override
    public void notTaken(long waitNanos) {
        next.pop();
    }

    @Override
    public void closed(long sequence) {
        Long range = held.remove(sequence);
        if (range != null) {
            hold.end(range);
        }
    }

    @Override
    public void close() {
        Stream.concat(Stream.of(makes), Stream.of(copy, next, hold)).forEach(NvtxRange::close);
    }
}
