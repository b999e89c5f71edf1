// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Digests of memory, for comparing bytes. */
public final class Digests {

    private Digests() {
    }

    /** A fresh SHA-256. */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /** The bytes of a segment, hashed and in hex. */
    public static String of(MemorySegment bytes) {
        return HexFormat.of().formatHex(sha256().digest(bytes.toArray(ValueLayout.JAVA_BYTE)));
    }
}
