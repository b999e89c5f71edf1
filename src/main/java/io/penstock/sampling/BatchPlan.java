// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Objects;

/**
 * The samples of one batch of one rank. {@link BatchSampler#plan} fills it, the collator reads it, and it is refilled
 * for later batches without allocating.
 *
 * <p>Owned by one thread at a time; handing it over needs a happens-before edge, such as a queue.
 */
public final class BatchPlan {

    private final long[] samples;
    private final long[] positions;
    private long number;
    private long epoch;
    private long indexInEpoch;
    private long firstPosition;
    private int count;
    private int valid;
    private int replaced;
    private long contentBytes;
    private int contentSum;

    /**
     * An empty plan.
     *
     * @param capacity the largest batch it can hold, at least 1
     */
    public BatchPlan(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + ", expected 1 or more samples");
        }
        samples = new long[capacity];
        positions = new long[capacity];
    }

    /**
     * Copies another plan, for a holder that outlives it.
     *
     * @param other the plan to copy
     * @throws IllegalArgumentException if this one has no room for it
     */
    public void copyFrom(BatchPlan other) {
        if (other.count > samples.length) {
            throw new IllegalArgumentException("plan of " + samples.length + " samples, expected room for "
                    + other.count);
        }
        System.arraycopy(other.samples, 0, samples, 0, other.count);
        System.arraycopy(other.positions, 0, positions, 0, other.count);
        set(other.number, other.epoch, other.indexInEpoch, other.firstPosition, other.count, other.valid);
        replaced = other.replaced;
        contentBytes = other.contentBytes;
        contentSum = other.contentSum;
    }

    /** Sets a batch whose samples lie {@code world} positions apart. */
    void set(long number, long epoch, long indexInEpoch, long firstPosition, int world, int count, int valid) {
        for (int i = 0; i < count; i++) {
            positions[i] = firstPosition + (long) i * world;
        }
        set(number, epoch, indexInEpoch, firstPosition, count, valid);
    }

    /** Turns places of an edited order into positions. */
    void place(EditedOrder order) {
        for (int i = 0; i < count; i++) {
            positions[i] = order.position(positions[i]);
        }
        firstPosition = order.position(firstPosition);
    }

    private void set(long number, long epoch, long indexInEpoch, long firstPosition, int count, int valid) {
        this.number = number;
        this.epoch = epoch;
        this.indexInEpoch = indexInEpoch;
        this.firstPosition = firstPosition;
        this.count = count;
        this.valid = valid;
        this.replaced = 0;
        this.contentBytes = 0;
        this.contentSum = 0;
    }

    /**
     * Replaces an unreadable sample by another, at the same position.
     *
     * @param row the row, from 0 up to, not including, {@link #count}
     * @param sample the other sample's index in the dataset
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public void replace(int row, long sample) {
        Objects.checkIndex(row, count);
        samples[row] = sample;
        replaced++;
    }

    /**
     * Removes an unreadable sample. The weighted rows after it move up by one; the filler takes the last weighted row,
     * at the removed sample's position and without weight. An unweighted row is replaced in place.
     *
     * @param row the row, from 0 up to, not including, {@link #count}
     * @param filler the index in the dataset of the sample to fill the batch with
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public void withdraw(int row, long filler) {
        Objects.checkIndex(row, count);
        if (row < valid) {
            valid--;
            long position = positions[row];
            System.arraycopy(samples, row + 1, samples, row, valid - row);
            System.arraycopy(positions, row + 1, positions, row, valid - row);
            samples[valid] = filler;
            positions[valid] = position;
        } else {
            samples[row] = filler;
        }
        replaced++;
    }

    /**
     * Removes an unreadable sample and its row. The rows after it move up by one; a plan may become empty.
     *
     * @param row the row, from 0 up to, not including, {@link #count}
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public void remove(int row) {
        Objects.checkIndex(row, count);
        count--;
        valid -= row < valid ? 1 : 0;
        System.arraycopy(samples, row + 1, samples, row, count - row);
        System.arraycopy(positions, row + 1, positions, row, count - row);
        replaced++;
    }

    /**
     * {@return how many unreadable samples were replaced or removed: the calls of {@link #replace}, {@link #withdraw}
     * and {@link #remove} since the plan was made}
     */
    public int replaced() {
        return replaced;
    }

    /**
     * Says what the samples' bytes are, once they were collated.
     *
     * @param bytes how many
     * @param crc32c their CRC-32C
     */
    public void content(long bytes, int crc32c) {
        contentBytes = bytes;
        contentSum = crc32c;
    }

    /** {@return how many bytes the collated samples have; 0 if nobody asked} */
    public long contentBytes() {
        return contentBytes;
    }

    /** {@return the CRC-32C of these bytes; 0 if nobody asked} */
    public int contentSum() {
        return contentSum;
    }

    /** {@return the batch's number in this run; 0 for the first batch after the start position} */
    public long number() {
        return number;
    }

    /** {@return the epoch of all samples in the batch, from 0} */
    public long epoch() {
        return epoch;
    }

    /**
     * {@return the batch's number in its epoch, from 0; in the epoch where a run starts or resumes, it counts from the
     * start position}
     */
    public long indexInEpoch() {
        return indexInEpoch;
    }

    /**
     * {@return the position in the epoch of the first sample; the next ones follow at a distance of the world size}
     * Positions at or past the epoch's size belong to the tail and wrap. After a sample was {@linkplain #withdraw
     * withdrawn} or removed, rows have moved up.
     */
    public long firstPosition() {
        return firstPosition;
    }

    /**
     * {@return the number of samples in the batch; fewer in the last batch of an epoch, and after samples were
     * {@linkplain #remove removed}}
     */
    public int count() {
        return count;
    }

    /**
     * {@return the number of weighted samples, which come first} The others fill up the shape and must not count in
     * loss or metrics. It is less than {@link #count()}, down to 0, only in the last batch under
     * {@link TailPolicy#EXACT}, or after samples were {@linkplain #withdraw withdrawn}.
     */
    public int valid() {
        return valid;
    }

    /**
     * {@return the samples' indices in the dataset} This is the plan's own array: do not write to it. Only the first
     * {@link #count()} entries are current.
     */
    public long[] samples() {
        return samples;
    }

    /**
     * {@return a sample's index in the dataset}
     *
     * @param i from 0 up to, not including, {@link #count()}
     * @throws IndexOutOfBoundsException if {@code i} is outside that range
     */
    public long sample(int i) {
        check(i);
        return samples[i];
    }

    /**
     * A sample's position in the epoch's order, counted over all ranks: the key of its random numbers. It is
     * independent of batch size and number of ranks; a surplus sample's is at or past the epoch's size.
     *
     * @param i from 0 up to, not including, {@link #count()}
     * @return from 0
     * @throws IndexOutOfBoundsException if {@code i} is outside that range
     */
    public long position(int i) {
        check(i);
        return positions[i];
    }

    private void check(int i) {
        if (i < 0 || i >= count) {
            throw new IndexOutOfBoundsException("sample " + i + " of a batch, expected 0 to " + (count - 1));
        }
    }
}
