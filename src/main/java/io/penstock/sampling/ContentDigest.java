// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.LongUnaryOperator;

/** A digest of a list of numbers, for fingerprints: 16 hexadecimal digits. */
final class ContentDigest {

    private static final int CHUNK = 8192;
    private static final int HEX_DIGITS = 16;

    /** The first digits of the SHA-256 of numbers, given by index, each as 8 bytes, least significant first. */
    static String of(long count, LongUnaryOperator numbers) {
        MessageDigest sha256 = sha256();
        ByteBuffer bytes = ByteBuffer.allocate(CHUNK * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < count; i++) {
            bytes.putLong(numbers.applyAsLong(i));
            if (!bytes.hasRemaining() || i == count - 1) {
                sha256.update(bytes.flip());
                bytes.clear();
            }
        }
        return HexFormat.of().formatHex(sha256.digest()).substring(0, HEX_DIGITS);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
