package io.penstock.codec;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a compressed file may decode to: the guard against files that are made to fill disk and memory. A shard, an
 * archive, a table is a file of its own.
 *
 * <p>The defaults are what real data does not reach. Deflate makes of a byte 1032 at the most, and 1,100 times a file's
 * size is more. Zstandard and run lengths pass that where data is one value repeated, as masks and gradients are that
 * nobody has written yet; so an array that decodes to 1 GiB or less is taken whatever the ratio, and a text of 64 MiB.
 * The size is that of the largest file that ext4 has.
 *
 * @param maxBytes what a file may decode to, whatever its size
 * @param maxRatio how many times its own size a file may decode to
 * @param freeBytes what a file may decode to whatever the ratio, if {@code maxBytes} is not less
 */
public record DecodeLimit(long maxBytes, long maxRatio, long freeBytes) {

    /** For stores: 16 TiB, and 1,100 times as many bytes as are stored, or 1 GiB. */
    public static final DecodeLimit DEFAULT = new DecodeLimit(1L << 44, 1100, 1L << 30);

    /** For text, which nobody has by the gigabyte from a few bytes: as {@link #DEFAULT}, but 64 MiB. */
    public static final DecodeLimit TEXT = new DecodeLimit(1L << 44, 1100, 64L << 20);

    /** Checks. */
    public DecodeLimit {
        if (maxBytes < 1 || maxRatio < 1 || freeBytes < 0) {
            throw new IllegalArgumentException("a limit of " + maxBytes + " bytes, or " + maxRatio
                    + " times the file's and " + freeBytes + ", expected at least 1, 1 and 0");
        }
    }

    /**
     * This limit with another size.
     *
     * @param bytes what a file may decode to, whatever its size
     * @return the limit
     */
    public DecodeLimit withMaxBytes(long bytes) {
        return new DecodeLimit(bytes, maxRatio, freeBytes);
    }

    /**
     * This limit with another ratio.
     *
     * @param ratio how many times its own size a file may decode to
     * @return the limit
     */
    public DecodeLimit withMaxRatio(long ratio) {
        return new DecodeLimit(maxBytes, ratio, freeBytes);
    }

    /**
     * The most that a file may decode to.
     *
     * @param storedBytes its size
     * @return bytes
     */
    public long of(long storedBytes) {
        long byRatio = storedBytes > Long.MAX_VALUE / maxRatio ? Long.MAX_VALUE : storedBytes * maxRatio;
        return Math.min(maxBytes, Math.max(freeBytes, byRatio));
    }

    /**
     * Refuses a file that says what it decodes to.
     *
     * @param file its path or location, for the message
     * @param storedBytes its size
     * @param decodedBytes what it decodes to
     * @throws DecodeLimitException if that is more than it may
     */
    public void check(Object file, long storedBytes, long decodedBytes) throws DecodeLimitException {
        if (decodedBytes > of(storedBytes)) {
            throw exceeded(file, storedBytes, decodedBytes + "");
        }
    }

    private DecodeLimitException exceeded(Object file, long storedBytes, String decoded) {
        long most = of(storedBytes);
        return new DecodeLimitException(file + ": found " + storedBytes + " bytes that decode to " + decoded
                + ", expected at most " + most + (most == maxBytes ? " (--max-decoded raises this limit)"
                : ", the greater of " + freeBytes + " and " + maxRatio
                + " times the file's size (--max-ratio raises this limit)"));
    }

    /**
     * Starts to count what a file decodes to.
     *
     * @param file its path or location, for messages
     * @param storedBytes its size
     * @return the count, at 0
     */
    public Budget budget(Object file, long storedBytes) {
        return new Budget(this, file, storedBytes);
    }

    /** What one file may still decode to. Any number of threads may take of it. */
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
         * Takes bytes, before there is memory or disk space for them.
         *
         * @param bytes how many will be decoded; 0 or more
         * @throws DecodeLimitException if the file has then decoded to more than it may; nothing is taken
         */
        public void take(long bytes) throws DecodeLimitException {
            if (!tryTake(bytes)) {
                throw limit.exceeded(file, storedBytes, "more than " + limit.of(storedBytes));
            }
        }

        /**
         * Takes bytes if there are so many left.
         *
         * @param bytes how many; 0 or more
         * @return whether there were
         */
        public boolean tryTake(long bytes) {
            long most = limit.of(storedBytes);
            long before = taken.getAndAccumulate(bytes, (sum, more) -> more > most - sum ? sum : sum + more);
            return bytes <= most - before;
        }

        /**
         * Refuses a part of the file that is decoded for a while, whatever else was.
         *
         * @param bytes what it decodes to
         * @throws DecodeLimitException if that is more than the file may
         */
        public void check(long bytes) throws DecodeLimitException {
            limit.check(file, storedBytes, bytes);
        }

        /**
         * Gives back what was taken for bytes that are not kept.
         *
         * @param bytes how many
         */
        public void giveBack(long bytes) {
            taken.addAndGet(-bytes);
        }

        /**
         * What to throw for a part of the file for which {@link #tryTake} did not have enough.
         *
         * @param part its name
         * @param bytes what it decodes to
         * @return the exception
         */
        public DecodeLimitException exceededBy(String part, long bytes) {
            return limit.exceeded(file, storedBytes, "more than " + limit.of(storedBytes) + " with the " + bytes
                    + " of '" + part + "'");
        }

        /**
         * Counts what a stream decodes to.
         *
         * @param decoded the stream; closed with the one that is returned
         * @return the same bytes; throws a {@link DecodeLimitException} where there are too many
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
