// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.internal.Sha256;
import io.penstock.io.FileInfo;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * One version of a remote object.
 *
 * @param name its name as users write it, without credentials, for example {@code s3://bucket/data.npy}
 * @param scope what its server chooses it by besides the name, without secrets; empty if there is nothing else
 * @param version its version, as {@link io.penstock.io.FileInfo} has it, or that of one run ({@link #ofRun})
 */
public record RemoteObject(String name, String scope, String version, long byteSize) {

    private static final int KEY_DIGITS = 32;
    private static final String RUN = "run ";

    /** An object that its server knows by its name alone. */
    public RemoteObject(String name, String version, long byteSize) {
        this(name, "", version, byteSize);
    }

    /** Returns the version of an object whose server names none: only the run of this id knows that it is the same. */
    public static String ofRun(String id) {
        return RUN + id;
    }

    /** Tells whether only one run may use its cached blocks. */
    boolean isOfRun() {
        return version.startsWith(RUN);
    }

    /** Tells whether its server names its version, so that another process can tell it from a later one. */
    boolean isVersioned() {
        return !isOfRun() && !version.isEmpty() && !version.equals(FileInfo.UNKNOWN_VERSION);
    }

    /** The key of all versions of a name. */
    public static String nameKey(String name, String scope) {
        return key(scope.isEmpty() ? name : name + '\0' + scope);
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
