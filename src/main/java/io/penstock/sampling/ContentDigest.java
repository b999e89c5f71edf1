// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.io.file.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.function.LongUnaryOperator;

/** A digest of a list of numbers, for fingerprints: 16 hexadecimal digits. */
final class ContentDigest {

    private static final int CHUNK = 8192;
    private static final int HEX_DIGITS = 16;

    /** The first digits of the SHA-256 of numbers, given by index, each as 8 bytes, least significant first. */
    static String of(long count, LongUnaryOperator numbers) {
        MessageDigest sha256 = Sha256.digest();
        ByteBuffer bytes = ByteBuffer.allocate(CHUNK * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < count; i++) {
            bytes.putLong(numbers.applyAsLong(i));
            if (!bytes.hasRemaining() || i == count - 1) {
                sha256.update(bytes.flip());
                bytes.clear();
            }
        }
        return Sha256.hex(sha256).substring(0, HEX_DIGITS);
    }
}
