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
public record Candidate(int workers, int prefetch, ReadMode readMode, int deviceSlots) {

    /**
     * Cheapest first: fewest threads, then fewest slots, then the read mode that adapts by itself. Chooses among
     * equally fast settings.
     */
    public static final Comparator<Candidate> BY_COST = Comparator.comparingInt(Candidate::workers)
            .thenComparingInt(Candidate::prefetch).thenComparingInt(Candidate::deviceSlots)
            .thenComparingInt(candidate -> candidate.readMode == ReadMode.AUTO ? -1 : candidate.readMode.ordinal());

    /** A copy with other workers and the prefetch that suits them. */
    Candidate withWorkers(int count, int batches) {
        return new Candidate(count, batches, readMode, deviceSlots);
    }

    Candidate withPrefetch(int batches) {
        return new Candidate(workers, batches, readMode, deviceSlots);
    }

    Candidate withReadMode(ReadMode mode) {
        return new Candidate(workers, prefetch, mode, deviceSlots);
    }

    Candidate withDeviceSlots(int slots) {
        return new Candidate(workers, prefetch, readMode, slots);
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
