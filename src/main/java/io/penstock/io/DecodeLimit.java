// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.error.LimitException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the decoded size of a compressed file, to protect disk and memory from malicious files. Each shard, archive or
 * table is a file of its own.
 *
 * <p>Real data does not reach the defaults. Deflate expands a byte to 1,032 at most, less than the ratio of 1,100.
 * Zstandard and run lengths exceed that for data that repeats one value, such as masks and gradients not written yet;
 * so an array that decodes to 1 GiB or less, or a text to 64 MiB or less, is accepted at any ratio. The greatest size
 * is that of the largest file on ext4.
 *
 * @param maxBytes the most decoded bytes of a file, whatever its size
 * @param maxRatio the most decoded bytes per stored byte
 * @param freeBytes the decoded bytes accepted at any ratio, but never more than {@code maxBytes}
 * @param maxWindowBytes the largest window of a zstd frame that is decoded as a stream, which takes as much memory;
 *     rounded up to a power of two, at most 2 GiB
 */
public record DecodeLimit(long maxBytes, long maxRatio, long freeBytes, long maxWindowBytes) {

    private static final long WINDOW_BYTES = 128L << 20;

    /** For stores: 16 TiB, and 1,100 times the stored size or 1 GiB, whichever is greater; windows of 128 MiB. */
    public static final DecodeLimit DEFAULT = new DecodeLimit(1L << 44, 1100, 1L << 30);

    /** For text, where a few bytes never decode to gigabytes: as {@link #DEFAULT}, but with 64 MiB. */
    public static final DecodeLimit TEXT = new DecodeLimit(1L << 44, 1100, 64L << 20);

    /** Checks the ranges. */
    public DecodeLimit {
        if (maxBytes < 1 || maxRatio < 1 || freeBytes < 0 || maxWindowBytes < 1) {
            throw new IllegalArgumentException("a limit of " + maxBytes + " bytes, or " + maxRatio
                    + " times the file's and " + freeBytes + ", with windows of " + maxWindowBytes
                    + ", expected at least 1, 1, 0 and 1");
        }
    }

    /**
     * A limit with zstd windows of up to 128 MiB, the most that {@code zstd -d} takes without an option.
     *
     * @param maxBytes the most decoded bytes of a file, whatever its size
     * @param maxRatio the most decoded bytes per stored byte
     * @param freeBytes the decoded bytes accepted at any ratio, but never more than {@code maxBytes}
     */
    public DecodeLimit(long maxBytes, long maxRatio, long freeBytes) {
        this(maxBytes, maxRatio, freeBytes, WINDOW_BYTES);
    }

    /**
     * {@return this limit with another size}
     *
     * @param bytes the most decoded bytes of a file, whatever its size
     */
    public DecodeLimit withMaxBytes(long bytes) {
        return new DecodeLimit(bytes, maxRatio, freeBytes, maxWindowBytes);
    }

    /**
     * {@return this limit with another ratio}
     *
     * @param ratio the most decoded bytes per stored byte
     */
    public DecodeLimit withMaxRatio(long ratio) {
        return new DecodeLimit(maxBytes, ratio, freeBytes, maxWindowBytes);
    }

    /**
     * {@return this limit with another largest window of zstd}
     *
     * @param bytes the window's size
     */
    public DecodeLimit withMaxWindowBytes(long bytes) {
        return new DecodeLimit(maxBytes, maxRatio, freeBytes, bytes);
    }

    /**
     * {@return the most decoded bytes of a file}
     *
     * @param storedBytes the file's size
     */
    public long of(long storedBytes) {
        long byRatio = storedBytes > Long.MAX_VALUE / maxRatio ? Long.MAX_VALUE : storedBytes * maxRatio;
        return Math.min(maxBytes, Math.max(freeBytes, byRatio));
    }

    /**
     * Checks a file that declares its decoded size.
     *
     * @param file its path or location, for the message
     * @param storedBytes the file's size
     * @param decodedBytes the declared decoded size
     * @throws LimitException if it exceeds the limit
     */
    public void check(Object file, long storedBytes, long decodedBytes) {
        if (decodedBytes > of(storedBytes)) {
            throw exceeded(file, storedBytes, decodedBytes + "");
        }
    }

    private LimitException exceeded(Object file, long storedBytes, String decoded) {
        long most = of(storedBytes);
        return LimitException.ofInput(file + ": found " + storedBytes + " bytes that decode to " + decoded
                + ", expected at most " + most + (most == maxBytes ? " (--max-decoded raises this limit)"
                : ", the greater of " + freeBytes + " and " + maxRatio
                + " times the file's size (--max-ratio raises this limit)"));
    }

    /**
     * Starts counting a file's decoded bytes.
     *
     * @param file its path or location, for messages
     * @param storedBytes the file's size
     * @return the budget, with nothing taken
     */
    public Budget budget(Object file, long storedBytes) {
        return new Budget(this, file, storedBytes);
    }

    /** The decoded bytes that remain for one file. Thread-safe. */
    public static final class Budget {

        private final DecodeLimit limit;
        private final Object file;
        private final long storedBytes;
        private final AtomicLong taken = new AtomicLong();

        private Budget(DecodeLimit limit, Object file, long storedBytes) {
            this.limit = limit;
            this.file = Objects.requireNonNull(file, "file");
            this.storedBytes = storedBytes;
        }

        /**
         * Takes bytes, before memory or disk space is allocated for them.
         *
         * @param bytes the number of bytes to decode; 0 or more
         * @throws LimitException if this exceeds the limit; nothing is taken
         */
        public void take(long bytes) {
            if (!tryTake(bytes)) {
                throw limit.exceeded(file, storedBytes, "more than " + limit.of(storedBytes));
            }
        }

        /**
         * Takes bytes if enough remain.
         *
         * @param bytes the number of bytes; 0 or more
         * @return whether enough remained
         */
        public boolean tryTake(long bytes) {
            long most = limit.of(storedBytes);
            long before = taken.getAndAccumulate(bytes, (sum, more) -> more > most - sum ? sum : sum + more);
            return bytes <= most - before;
        }

        /**
         * Checks a part of the file that is decoded temporarily, independent of what was taken.
         *
         * @param bytes the part's decoded size
         * @throws LimitException if it exceeds the file's limit
         */
        public void check(long bytes) {
            limit.check(file, storedBytes, bytes);
        }

        /**
         * Returns bytes that were taken but are not kept.
         *
         * @param bytes the number of bytes
         */
        public void giveBack(long bytes) {
            taken.addAndGet(-bytes);
        }

        /**
         * {@return the exception for a part for which {@link #tryTake} returned false}
         *
         * @param part its name
         * @param bytes its decoded size
         */
        public LimitException exceededBy(String part, long bytes) {
            return limit.exceeded(file, storedBytes, "more than " + limit.of(storedBytes) + " with the " + bytes
                    + " of '" + part + "'");
        }

        /**
         * Counts the bytes of a decoded stream.
         *
         * @param decoded the stream; closed with the returned one
         * @return the same bytes; throws a {@link LimitException} once there are too many
         */
        public InputStream count(InputStream decoded) {
            return new Counted(decoded, this);
        }
    }

    private static final class Counted extends FilterInputStream {

        private final Budget budget;

        Counted(InputStream in, Budget budget) {
            super(in);
            this.budget = budget;
        }

        @Override
        public int read() throws IOException {
            int value = super.read();
            budget.take(value < 0 ? 0 : 1);
            return value;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int read = super.read(target, offset, length);
            budget.take(Math.max(0, read));
            return read;
        }

        @Override
        public long skip(long bytes) throws IOException {
            long skipped = super.skip(bytes);
            budget.take(skipped);
            return skipped;
        }
    }
}
