// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;

/** SHA-256 of memory, streams and numbers of any size. */
public final class Sha256 {

    private static final int CHUNK_BYTES = 1 << 20;
    private static final int CHUNK_NUMBERS = 8192;
    private static final int SHORT_DIGITS = 32;
    private static final int NUMBERS_DIGITS = 16;

    private Sha256() {
    }

    /** {@return a new SHA-256 digest} */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /**
     * {@return the 64 hexadecimal digits of the digest of a segment}
     *
     * @param bytes the segment
     * @param progress receives the number of bytes digested so far
     */
    public static String hex(MemorySegment bytes, LongConsumer progress) {
        MessageDigest sha256 = digest();
        update(sha256, bytes, progress);
        return hex(sha256);
    }

    /**
     * {@return the 64 hexadecimal digits of the digest of a stream, which is read to its end}
     *
     * @param in the stream
     * @param read receives the number of bytes of each step
     * @throws IOException if the stream cannot be read
     */
    public static String hex(InputStream in, LongConsumer read) throws IOException {
        MessageDigest sha256 = digest();
        byte[] chunk = new byte[CHUNK_BYTES];
        for (int bytes = in.read(chunk); bytes >= 0; bytes = in.read(chunk)) {
            sha256.update(chunk, 0, bytes);
            read.accept(bytes);
        }
        return hex(sha256);
    }

    /**
     * {@return the first 16 hexadecimal digits of the digest of numbers, each as 8 bytes, least significant first}
     *
     * @param count how many there are
     * @param numbers each number, by its index
     */
    public static String hex(long count, LongUnaryOperator numbers) {
        MessageDigest sha256 = digest();
        ByteBuffer bytes = ByteBuffer.allocate(CHUNK_NUMBERS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < count; i++) {
            bytes.putLong(numbers.applyAsLong(i));
            if (!bytes.hasRemaining() || i == count - 1) {
                sha256.update(bytes.flip());
                bytes.clear();
            }
        }
        return hex(sha256).substring(0, NUMBERS_DIGITS);
    }

    /**
     * {@return the 64 hexadecimal digits of a digest, which is reset}
     *
     * @param sha256 the digest
     */
    public static String hex(MessageDigest sha256) {
        return HexFormat.of().formatHex(sha256.digest());
    }

    /**
     * {@return the first 32 hexadecimal digits of a digest, which is reset} Fingerprints have this length.
     *
     * @param sha256 the digest
     */
    public static String shortHex(MessageDigest sha256) {
        return hex(sha256).substring(0, SHORT_DIGITS);
    }

    /**
     * Adds a segment to a digest.
     *
     * @param sha256 the digest
     * @param bytes the segment
     */
    public static void update(MessageDigest sha256, MemorySegment bytes) {
        update(sha256, bytes, _ -> { });
    }

    private static void update(MessageDigest sha256, MemorySegment bytes, LongConsumer progress) {
        byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, bytes.byteSize())];
        for (long at = 0; at < bytes.byteSize(); at += chunk.length) {
            int length = (int) Math.min(chunk.length, bytes.byteSize() - at);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
            sha256.update(chunk, 0, length);
            progress.accept(at + length);
        }
    }
}
