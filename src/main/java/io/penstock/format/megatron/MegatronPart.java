// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run of documents of a store being written. One thread at a time uses a part; several threads write several parts.
 *
 * <p>A part holds 1 MiB of native memory and two open files from its first token to its {@link #close}: a writer of
 * many parts closes each when it is complete.
 *
 * <p>After a write error {@link MegatronWriter#commit} throws: the whole store fails.
 */
public final class MegatronPart implements AutoCloseable {

    private static final int TOKEN_BUFFER_BYTES = 1 << 20;
    private static final int LENGTH_BUFFER_BYTES = 1 << 16;

    /** The part's files. A sequence that does not end its document has the complement of its length. */
    private record Files(SpoolFile tokens, SpoolFile lengths) implements AutoCloseable {

        @Override
        public void close() throws IOException {
            try (tokens; lengths) {
                // Closes both.
            }
        }
    }

    private final int number;
    private final DType dtype;
    private final Path tokenPath;
    private final StagingFolder staging;
    private final long maxSequenceTokens;

    private @Nullable Files files;
    private long documents;
    private long sequences;
    private long tokens;
    private long openTokens;
    private boolean closed;
    /** The digests of the first part, which are the store's if there is no other; null if they were not computed. */
    private @Nullable TokenDigests digests;
    private volatile @Nullable IOException failure;

    MegatronPart(int number, DType dtype, Path tokenPath, StagingFolder staging, long maxSequenceTokens) {
        this.number = number;
        this.dtype = dtype;
        this.tokenPath = tokenPath;
        this.staging = staging;
        this.maxSequenceTokens = maxSequenceTokens;
    }

    /**
     * Appends tokens to the current document.
     *
     * @param source the array that holds the tokens
     * @param from the index of the first one
     * @param count the number of tokens
     * @throws IllegalArgumentException if a token does not fit the store's dtype; names it and its index. Then none is
     *     appended
     * @throws IOException if the write fails, for example because the disk is full; names the file
     */
    public void append(int[] source, int from, int count) throws IOException {
        Objects.checkFromIndexSize(from, count, source.length);
        append(from, count, i -> source[i], Integer.BYTES, (target, at, done, n) ->
                MemorySegment.copy(source, from + (int) done, target, LittleEndian.I32, at, n));
    }

    /**
     * Appends tokens to the current document.
     *
     * @param source the array that holds the tokens
     * @param from the index of the first one
     * @param count the number of tokens
     * @throws IllegalArgumentException as {@link #append(int[], int, int)}
     * @throws IOException if the write fails; names the file
     */
    public void append(long[] source, int from, int count) throws IOException {
        Objects.checkFromIndexSize(from, count, source.length);
        append(from, count, i -> source[i], Long.BYTES, (target, at, done, n) ->
                MemorySegment.copy(source, from + (int) done, target, LittleEndian.I64, at, n));
    }

    /** Checks tokens and converts them to the store's size; tokens of that size are copied at once. */
    private void append(int from, int count, IntToLongFunction token, int tokenBytes, Copy same) throws IOException {
        long min = min();
        long max = max();
        for (int i = from; i < from + count; i++) {
            if (token.applyAsLong(i) < min || token.applyAsLong(i) > max) {
                throw doesNotFit(token.applyAsLong(i), i);
            }
        }
        if (tokenBytes == dtype.byteSize()) {
            write(count, same);
            return;
        }
        write(count, (target, at, done, n) -> {
            int first = from + (int) done;
            for (int i = 0; i < n; i++) {
                long value = token.applyAsLong(first + i);
                switch (dtype.byteSize()) {
                    case 1 -> target.set(JAVA_BYTE, at + i, (byte) value);
                    case 2 -> target.set(LittleEndian.I16, at + 2L * i, (short) value);
                    case 4 -> target.set(LittleEndian.I32, at + 4L * i, (int) value);
                    default -> target.set(LittleEndian.I64, at + 8L * i, value);
                }
            }
        });
    }

    /**
     * Appends tokens of the store's dtype, little-endian, to the current document.
     *
     * @param source the memory that holds the tokens
     * @param firstToken the index of the first one, in tokens
     * @param count the number of tokens
     * @throws IndexOutOfBoundsException if the memory is too small
     * @throws IOException if the write fails; names the file
     */
    public void append(MemorySegment source, long firstToken, long count) throws IOException {
        int tokenBytes = dtype.byteSize();
        Objects.checkFromIndexSize(firstToken, count, source.byteSize() / tokenBytes);
        put(source, firstToken * tokenBytes, count);
    }

    private synchronized void put(MemorySegment source, long offset, long count) throws IOException {
        requireOpen();
        try {
            files().tokens.put(source, offset, count * dtype.byteSize());
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
            throw e;
        }
        tokens += count;
        openTokens += count;
    }

    /**
     * Removes the tokens since the last {@link #endDocument}, as if they had not been appended.
     *
     * @throws IOException if the file cannot be cut; names it
     */
    public synchronized void dropTokens() throws IOException {
        requireOpen();
        try {
            if (openTokens > 0) {
                files().tokens.removeLast(openTokens * dtype.byteSize());
            }
        } catch (IOException e) {
            fail(e);
            throw e;
        }
        tokens -= openTokens;
        openTokens = 0;
    }

    private void fail(Throwable cause) {
        failure = cause instanceof IOException e ? e
                : new IOException(tokenPath + ": part " + number + " received only some of its tokens: " + cause,
                        cause);
    }

    /** Puts {@code n} tokens, of which the first is the {@code done}-th of the call, at an offset of the target. */
    @FunctionalInterface
    private interface Copy {
        void put(MemorySegment target, long at, long done, int n);
    }

    private synchronized void write(long count, Copy copy) throws IOException {
        requireOpen();
        try {
            SpoolFile tokenFile = files().tokens;
            for (long done = 0; done < count; ) {
                tokenFile.reserve(dtype.byteSize());
                int n = (int) Math.min(tokenFile.room() / dtype.byteSize(), count - done);
                copy.put(tokenFile.buffer(), tokenFile.position(), done, n);
                tokenFile.advance(n * dtype.byteSize());
                done += n;
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
            throw e;
        }
        tokens += count;
        openTokens += count;
    }

    /**
     * Ends the current document: the tokens since the last call, or none.
     *
     * @throws IOException if the write fails; names the file
     */
    public synchronized void endDocument() throws IOException {
        requireOpen();
        try {
            SpoolFile lengthFile = files().lengths;
            // A sequence's length is an i32 in the index; a longer document is several sequences.
            for (; openTokens > maxSequenceTokens; openTokens -= maxSequenceTokens) {
                lengthFile.putInt(~(int) maxSequenceTokens);
                sequences++;
            }
            lengthFile.putInt((int) openTokens);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
        sequences++;
        documents++;
        openTokens = 0;
    }

    private Files files() throws IOException {
        Files open = files;
        if (open == null) {
            digests = number == 0 ? new TokenDigests() : null;
            SpoolFile tokenFile = digests == null
                    ? new SpoolFile(staging.create(tokenName()), tokenPath, TOKEN_BUFFER_BYTES)
                    : SpoolFile.observed(staging.create(tokenName()), tokenPath, TOKEN_BUFFER_BYTES, digests);
            try {
                open = new Files(tokenFile,
                        new SpoolFile(staging.create(lengthName()), tokenPath, LENGTH_BUFFER_BYTES));
            } catch (Throwable t) {
                tokenFile.close();
                throw t;
            }
            files = open;
        }
        return open;
    }

    private void requireOpen() throws IOException {
        if (failure != null) {
            throw new IOException(tokenPath + ": part " + number + " failed before", failure);
        }
        if (closed) {
            throw new IllegalStateException(tokenPath + ": part " + number + " is closed");
        }
    }

    private long min() {
        return dtype.isUnsigned() ? 0 : -1L << 8 * dtype.byteSize() - 1;
    }

    private long max() {
        return -1L >>> 64 - 8 * dtype.byteSize() + (dtype.isUnsigned() ? 0 : 1);
    }

    private IllegalArgumentException doesNotFit(long token, int index) {
        return new IllegalArgumentException(tokenPath + ": token " + token + " at index " + index + " of document "
                + documents + " in part " + number + " does not fit " + dtype + ", expected " + min() + " to " + max());
    }

    String tokenName() {
        return "part-" + number + ".tokens";
    }

    String lengthName() {
        return "part-" + number + ".lengths";
    }

    int number() {
        return number;
    }

    long documents() {
        return documents;
    }

    long sequences() {
        return sequences;
    }

    long tokens() {
        return tokens;
    }

    /** Returns the tokens after the end of the last document. */
    long openTokens() {
        return openTokens;
    }

    /** Returns the digests of a closed part, if they were computed while it was written. */
    @Nullable TokenDigests digests() {
        return digests;
    }

    @Nullable IOException failure() {
        return failure;
    }

    /**
     * Writes and frees the buffers. Calling it again does nothing.
     *
     * @throws IOException if the write fails; names the file
     */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try (Files open = files) {
            if (open != null && failure == null) {
                digests = open.tokens.end() ? digests : null;
                open.lengths.flush();
            }
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /** Closes the part without writing; a thread that still appends gets an exception. */
    synchronized void discard() {
        closed = true;
        try (Files _ = files) {
            files = null;
        } catch (IOException _) {
            // the files will be deleted
        }
    }
}
