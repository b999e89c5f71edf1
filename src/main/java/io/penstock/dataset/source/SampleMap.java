// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.io.SpanReader.Runs;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * User code that maps a field of a sample in a loader's workers. All workers share it: it must be stateless, or keep
 * its state in what {@link #open} returns. It is deterministic if it draws only from the given random numbers.
 */
@FunctionalInterface
public interface SampleMap {

    /**
     * Computes a value.
     *
     * @param in the sample's value: a copy in native memory, for this call only; see also {@link #readsInPlace}
     * @param random random numbers for this call only, keyed by the loader's seed, the epoch, the sample's position in
     *     the epoch's order and this step: the same for any workers, ranks, batch size and resume point, but different
     *     if the sample repeats
     * @param out native memory of the batch, uninitialized, for this call only; write all of it
     * @throws IOException if the sample is bad; the bad-sample policy then applies
     */
    void map(Tensor in, RandomGenerator random, Tensor out) throws IOException;

    /**
     * {@return the names of the parts of the work that a loader's reports show apart, such as the steps of a pipeline;
     * empty to show the work as a whole}
     */
    default List<String> parts() {
        return List.of();
    }

    /**
     * Computes a value and reports when each of the {@link #parts} is done. A loader calls this for some samples, and
     * the other method for the rest; both give the same value.
     *
     * @param in as in {@link #map(Tensor, RandomGenerator, Tensor)}
     * @param random likewise
     * @param out likewise
     * @param clock receives the times, in this call and thread
     * @throws IOException likewise
     */
    default void map(Tensor in, RandomGenerator random, Tensor out, PartClock clock) throws IOException {
        map(in, random, out);
    }

    /**
     * {@return whether {@code in} may be a file mapping instead of a copy: only if Java code alone reads it} A
     * truncated page raises an error in Java but kills the process in native code.
     */
    default boolean readsInPlace() {
        return false;
    }

    /**
     * {@return whether a session says which bytes of {@code in} it reads: then only they are read, or fetched} There is
     * no read-ahead of such a field. Its session is asked by {@link Mapper#begin}.
     */
    default boolean readsRanges() {
        return false;
    }

    /**
     * Opens a session for one worker, if the map keeps state for each worker or allocates nothing. By default there is
     * none, and the workers call {@link #map}.
     *
     * @return the session, which the worker closes
     */
    default Optional<Mapper> open() {
        return Optional.empty();
    }

    /** Maps one value after another, for one thread at a time. */
    interface Mapper extends AutoCloseable {

        /**
         * Computes a value, as {@link SampleMap#map} does.
         *
         * @param in native memory with the sample's value
         * @param inOffset the value's first byte
         * @param inBytes the value's byte size
         * @param random random numbers for this call only
         * @param out native memory of the batch
         * @param outOffset the first byte to write
         * @param outBytes the bytes to write, all of them
         * @param clock receives when each of the {@link #parts} is done
         * @throws IOException if the sample is bad
         */
        void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random, MemorySegment out,
                long outOffset, long outBytes, PartClock clock) throws IOException;

        /**
         * Receives the value of another field before each call of {@link #map}, if the dataset's map names one.
         *
         * @param value native memory with the sample's value of that field, for this sample only
         * @param offset the value's first byte
         * @param bytes the value's byte size
         * @throws IOException if the sample is bad
         */
        default void beside(MemorySegment value, long offset, long bytes) throws IOException {
        }

        /**
         * Chooses the bytes that the next {@link #map} will read, if {@link SampleMap#readsRanges}; no other byte of
         * its input may be read.
         *
         * @param inBytes the value's byte size
         * @param random the random numbers that {@link #map} gets, from their beginning
         * @return the first byte
         * @throws IOException if the sample is bad
         */
        default long begin(long inBytes, RandomGenerator random) throws IOException {
            return 0;
        }

        /**
         * {@return the byte behind the last that {@link #begin} has chosen}
         *
         * @param inBytes the value's byte size
         */
        default long end(long inBytes) {
            return inBytes;
        }

        /**
         * {@return the runs of bytes of what {@link #begin} has chosen that are read; the bytes between them are not}
         * By default all are read.
         */
        default Runs runs() {
            return Runs.NONE;
        }

        /**
         * {@return whether {@link #plan} is to be called with all values of a batch, before the first of them is
         * mapped}
         */
        default boolean plans() {
            return false;
        }

        /**
         * Learns, after {@link #beside}, that a value of a batch will be mapped. The session may write it already when
         * it maps an earlier one, to do once what both need. Forgets what was planned before if the row is 0.
         *
         * @param row the sample's row
         * @param out native memory of the batch
         * @param outOffset the first byte that {@link #map} will write
         */
        default void plan(int row, MemorySegment out, long outOffset) {
        }

        /** Frees the session's resources. Further calls do nothing. The default is for a session without any. */
        @Override
        default void close() {
        }
    }

    /**
     * Learns when each part of a {@link SampleMap}'s work is done, so that a loader can report where its time goes.
     */
    @FunctionalInterface
    interface PartClock {

        /** Takes no times. */
        PartClock NONE = _ -> { };

        /**
         * A part of the work on the current sample is done: the time since the last call, or since the work began, is
         * that part's. Costs some 20 ns.
         *
         * @param part its index in {@link SampleMap#parts}
         */
        void done(int part);
    }
}
