// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import io.penstock.io.file.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * One version of a remote object.
 *
 * @param name its name as users write it, without credentials, for example {@code s3://bucket/data.npy}
 * @param version its version, as {@link io.penstock.io.FileInfo} has it
 */
public record RemoteObject(String name, String version, long byteSize) {

    private static final int KEY_DIGITS = 32;

    /** The key of all versions of a name. */
    public static String nameKey(String name) {
        return key(name);
    }

    /** The key of this version in blocks of a size. */
    String versionKey(int blockBytes) {
        return key(version + '\0' + byteSize + '\0' + blockBytes);
    }

    private static String key(String text) {
        MessageDigest sha256 = Sha256.digest();
        sha256.update(text.getBytes(StandardCharsets.UTF_8));
        return Sha256.hex(sha256).substring(0, KEY_DIGITS);
    }
}
