package io.penstock.sampling;

import java.util.Objects;

/**
 * Which samples make up one batch of one rank: filled by {@link BatchSampler#plan}, read by the collator, and filled
 * again for a later batch without allocating.
 *
 * <p>Owned by one thread at a time; handing it over needs a happens-before edge, as a queue gives.
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
     * Takes over another plan, for a holder that outlives it.
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
    }

    /** A batch whose samples lie {@code world} positions apart. */
    void set(long number, long epoch, long indexInEpoch, long firstPosition, int world, int count, int valid) {
        for (int i = 0; i < count; i++) {
            positions[i] = firstPosition + (long) i * world;
        }
        set(number, epoch, indexInEpoch, firstPosition, count, valid);
    }

    private void set(long number, long epoch, long indexInEpoch, long firstPosition, int count, int valid) {
        this.number = number;
        this.epoch = epoch;
        this.indexInEpoch = indexInEpoch;
        this.firstPosition = firstPosition;
        this.count = count;
        this.valid = valid;
        this.replaced = 0;
    }

    /**
     * Puts another sample in the place of one that cannot be read, at the same position.
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
     * Takes out a sample that cannot be read: the rows with weight behind it move up by one, and the last of their
     * places goes to another sample, without weight, at the position of the one that is taken out. A row that has no
     * weight stays where it is.
     *
     * @param row the row, from 0 up to, not including, {@link #count}
     * @param filler the other sample's index in the dataset
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
     * How many samples could not be read, and have others in their places.
     *
     * @return the calls of {@link #replace} and {@link #withdraw} since the plan was made
     */
    public int replaced() {
        return replaced;
    }

    /**
     * The batch's number in this run.
     *
     * @return 0 for the first batch after the start position
     */
    public long number() {
        return number;
    }

    /**
     * The epoch that all samples of the batch belong to.
     *
     * @return from 0
     */
    public long epoch() {
        return epoch;
    }

    /**
     * The batch's number in its epoch, counted from the start position in the epoch that a run starts or resumes in.
     *
     * @return 0 for the first batch that this run takes from the epoch
     */
    public long indexInEpoch() {
        return indexInEpoch;
    }

    /**
     * The position in the epoch of the first sample; the next ones follow at a distance of the world size. Positions
     * at or past the epoch's size are the tail's, and wrap. Behind a sample that was {@linkplain #withdraw taken out},
     * rows have moved up.
     *
     * @return from 0
     */
    public long firstPosition() {
        return firstPosition;
    }

    /**
     * How many samples the batch has.
     *
     * @return the batch size, or less for the last batch of an epoch
     */
    public int count() {
        return count;
    }

    /**
     * How many samples carry weight: the first ones. The rest fill up the shape and must not count in loss or metric.
     *
     * @return {@link #count()}, or less, down to 0, in the last batch under {@link TailPolicy#EXACT}, or where samples
     *     were {@linkplain #withdraw taken out}
     */
    public int valid() {
        return valid;
    }

    /**
     * The samples' indices in the dataset: the array itself, so that the hot path copies nothing. Entries at
     * {@link #count()} and beyond are left over from earlier batches.
     *
     * @return the plan's own array, as long as its capacity; not to be written
     */
    public long[] samples() {
        return samples;
    }

    /**
     * One sample's index in the dataset.
     *
     * @param i from 0 up to, not including, {@link #count()}
     * @return the sample's index
     * @throws IndexOutOfBoundsException if {@code i} is outside that range
     */
    public long sample(int i) {
        check(i);
        return samples[i];
    }

    /**
     * One sample's position in the epoch's order, counted over all ranks: what its random numbers are drawn by. The
     * same whatever the batch size and the number of ranks; a surplus sample's is at or past the epoch's size.
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
