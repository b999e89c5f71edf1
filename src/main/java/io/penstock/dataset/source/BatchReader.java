// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.sampling.BatchPlan;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * Reads the samples of batches for a collator: locates a field of a sample, then copies its bytes or reads its
 * integers. Each worker has its own reader, for one thread. Reading allocates nothing on the heap once it is warm.
 *
 * <p>All methods that locate or read throw {@link BadSampleException} if a sample is corrupt or cannot be decoded,
 * {@link UncheckedIOException} if a file cannot be read or has shrunk, {@link IllegalStateException} if the dataset
 * gives a number of bytes that does not fit the field, and {@link java.util.concurrent.CancellationException} if the
 * loader is being closed. For a file that has shrunk the JVM may also throw an {@link InternalError}, which the loader
 * turns into an error that names the file. A collator lets these pass.
 */
public interface BatchReader {

    /** The most integers that {@link #readIntegers} and {@link #readLongs} read at once: the longest array. */
    int MAX_INTEGERS = Integer.MAX_VALUE - 8;

    /** {@return the dataset} */
    Samples samples();

    /**
     * Locates the bytes of a field of a batch's sample, without reading them unless they must be decoded.
     *
     * @param plan the batch
     * @param row the sample's row in it
     * @param field the field's position in the dataset
     * @return the field's bytes; the next call reuses the span
     */
    Span locate(BatchPlan plan, int row, int field);

    /**
     * {@return the bytes of a field of a sample, without decoding it if the length is known before}
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     */
    long byteSize(long sample, int field);

    /**
     * Locates a field of all samples of a batch, for a collator that needs every length before it writes. Prefetches
     * the start of each value, so that cache misses overlap.
     *
     * @param plan the batch; do not change it while {@link #located} is in use
     * @param field the field's position in the dataset
     */
    void locateAll(BatchPlan plan, int field);

    /**
     * {@return the bytes of a sample of {@link #locateAll}}
     *
     * @param row the sample's row
     */
    long locatedBytes(int row);

    /**
     * {@return the field's bytes in a sample of {@link #locateAll}, decoded if needed, valid until the next location}
     *
     * @param row the sample's row
     */
    Span located(int row);

    /**
     * Copies a field of a batch's samples consecutively, values with a constant stride at memory speed.
     *
     * @param plan the batch
     * @param field the field's position in the dataset
     * @param target the target, native memory
     * @param targetOffset the offset to write at
     * @return bytes written
     */
    long copyAll(BatchPlan plan, int field, MemorySegment target, long targetOffset);

    /**
     * Copies located bytes of the field that was located last.
     *
     * @param from the bytes
     * @param skipBytes bytes to skip at the start
     * @param bytes bytes to copy
     * @param target the target, native memory
     * @param targetOffset the offset to write at
     * @throws IndexOutOfBoundsException if the part is out of bounds
     */
    void copyPart(Span from, long skipBytes, long bytes, MemorySegment target, long targetOffset);

    /**
     * Reads the first elements of located bytes, as integers of at most 32 bits.
     *
     * @param from the bytes
     * @param count the number of elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values in a reused array that may be longer than they are; signed types are sign-extended,
     *     {@code u32} keeps its bits; valid until the next call
     * @throws IndexOutOfBoundsException if there are fewer
     * @throws IllegalArgumentException if the dtype does not fit
     */
    int[] readIntegers(Span from, int count, DType dtype);

    /**
     * Reads the first elements of located bytes as integers of 64 bits. Any integers are read, and truth values as 0
     * and 1; {@code u64} keeps its bits.
     *
     * @param from the bytes
     * @param count the number of elements, at most {@link #MAX_INTEGERS}
     * @param dtype their type
     * @return the values in a reused array that may be longer than they are; valid until the next call
     * @throws IndexOutOfBoundsException if there are fewer
     * @throws IllegalArgumentException if they are neither integers nor truth values
     */
    long[] readLongs(Span from, int count, DType dtype);

    /**
     * Prefetches a sample's first bytes into the CPU cache, if they are read through the mapping. A loop over scattered
     * samples calls this one sample ahead.
     *
     * @param sample the sample's index
     * @param field the field's position in the dataset
     */
    void prefetch(long sample, int field);

    /**
     * Returns the random numbers of a step for a whole batch: keyed by the loader's seed, the epoch, and the position
     * of the batch's first sample. They are the same for any workers and resume point, but not for another batch size.
     *
     * @param plan the batch
     * @param step the step's number: {@link io.penstock.sampling.KeyedRandom#step} of a name
     * @return the numbers, for this thread, until a sample is read
     * @throws IllegalStateException when they are drawn, if no loader reads
     */
    RandomGenerator random(BatchPlan plan, long step);

    /**
     * Names the sample that errors are about, for a collator that locates by itself.
     *
     * @param sample the sample's index
     */
    void about(long sample);

    /**
     * Verifies bytes that a collator located by itself, if the loader verifies, before the collator reads them.
     *
     * @param located the bytes, of the sample passed to {@link #about}
     */
    void check(Span located);

    /** {@return a span for a collator that locates by itself: the same at every call, and used by nothing else} */
    Span ownSpan();
}
