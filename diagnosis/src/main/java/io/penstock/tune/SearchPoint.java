// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.io.ReadMode;
import io.penstock.loader.LoaderSettings;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One point of the search: a loader's settings.
 *
 * @param workers threads that collate; with 0, the trainer's thread does
 * @param prefetch maximum number of waiting batches
 * @param readMode how bytes are read
 * @param deviceSlots slots on the device; ignored where batches are lent in place
 */
public record SearchPoint(int workers, int prefetch, ReadMode readMode, int deviceSlots) {

    /**
     * Cheapest first: fewest threads, then fewest slots, then the read mode that adapts by itself. Chooses among
     * equally fast settings.
     */
    public static final Comparator<SearchPoint> BY_COST = Comparator.comparingInt(SearchPoint::workers)
            .thenComparingInt(SearchPoint::prefetch).thenComparingInt(SearchPoint::deviceSlots)
            .thenComparingInt(candidate -> candidate.readMode == ReadMode.AUTO ? -1 : candidate.readMode.ordinal());

    /** A copy with other workers and the prefetch that suits them. */
    SearchPoint withWorkers(int count, int batches) {
        return new SearchPoint(count, batches, readMode, deviceSlots);
    }

    SearchPoint withPrefetch(int batches) {
        return new SearchPoint(workers, batches, readMode, deviceSlots);
    }

    SearchPoint withReadMode(ReadMode mode) {
        return new SearchPoint(workers, prefetch, mode, deviceSlots);
    }

    SearchPoint withDeviceSlots(int slots) {
        return new SearchPoint(workers, prefetch, readMode, slots);
    }

    /**
     * {@return the candidate as loader settings without empty values}
     *
     * @param note where the settings come from
     */
    public LoaderSettings settings(String note) {
        return new LoaderSettings(OptionalInt.of(workers), OptionalInt.of(prefetch), Optional.of(readMode),
                OptionalInt.of(deviceSlots), note);
    }
}
