package io.penstock.tune;

import io.penstock.io.ReadMode;
import io.penstock.loader.LoaderSettings;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One point of the search: settings that a loader is opened with.
 *
 * @param workers threads that collate; 0 for the trainer's own
 * @param prefetch batches that may wait
 * @param readMode how bytes are brought in
 * @param deviceSlots slots on the device; of no account where batches are lent in place
 */
public record Candidate(int workers, int prefetch, ReadMode readMode, int deviceSlots) {

    /**
     * The cheaper one first: fewer threads, then fewer slots, then the read mode that adapts by itself. What two
     * settings that are equally fast are chosen by.
     */
    public static final Comparator<Candidate> BY_COST = Comparator.comparingInt(Candidate::workers)
            .thenComparingInt(Candidate::prefetch).thenComparingInt(Candidate::deviceSlots)
            .thenComparingInt(candidate -> candidate.readMode == ReadMode.AUTO ? -1 : candidate.readMode.ordinal());

    /**
     * The candidate with other workers.
     *
     * @param count threads
     * @param batches the prefetch that goes with them
     * @return the other candidate
     */
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
     * The same as a loader takes it.
     *
     * @param note where it comes from
     * @return settings with nothing left empty
     */
    public LoaderSettings settings(String note) {
        return new LoaderSettings(OptionalInt.of(workers), OptionalInt.of(prefetch), Optional.of(readMode),
                OptionalInt.of(deviceSlots), note);
    }
}
