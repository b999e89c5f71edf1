// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.io.ReadMode;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The values that a search tries.
 *
 * @param workers numbers of threads
 * @param prefetch numbers of batches
 * @param readModes how bytes are read
 * @param deviceSlots numbers of slots on the device; one value where batches are lent in place
 */
public record SearchSpace(List<Integer> workers, List<Integer> prefetch, List<ReadMode> readModes,
        List<Integer> deviceSlots) {

    private static final int ALL_UP_TO = 4;

    /** Copies the lists. */
    public SearchSpace {
        workers = List.copyOf(workers);
        prefetch = List.copyOf(prefetch);
        readModes = List.copyOf(readModes);
        deviceSlots = List.copyOf(deviceSlots);
    }

    /**
     * {@return the default space for a machine where batches are lent in place: workers from 0 to its processors,
     * prefetch from 1 to 64 in powers of two, and all read modes}
     *
     * @param processors number of hardware threads
     */
    public static SearchSpace inPlace(int processors) {
        return of(processors, List.of(3));
    }

    /**
     * {@return the default space for a machine that copies batches: as {@link #inPlace}, and 2 to 6 device slots}
     *
     * @param processors number of hardware threads
     */
    public static SearchSpace copying(int processors) {
        return of(processors, List.of(2, 3, 4, 6));
    }

    private static SearchSpace of(int processors, List<Integer> deviceSlots) {
        List<Integer> workers = IntStream.rangeClosed(0, processors)
                .filter(count -> count <= ALL_UP_TO || count == processors || count % (ALL_UP_TO * 2) == 0
                        || Integer.bitCount(count) == 1)
                .boxed().toList();
        return new SearchSpace(workers, List.of(1, 2, 4, 8, 16, 32, 64), List.of(ReadMode.values()), deviceSlots);
    }
}
