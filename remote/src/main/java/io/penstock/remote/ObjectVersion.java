// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import java.net.http.HttpHeaders;
import java.util.Map;

/**
 * The version of an object as text, by what its server says of it: an ETag, or the time of its last change.
 *
 * <p>The text is the ETag itself, {@code modified TIME}, or {@value #UNKNOWN}.
 */
final class ObjectVersion {

    static final String UNKNOWN = FileInfo.UNKNOWN_VERSION;

    private static final String MODIFIED = "modified ";

    /** Returns the version that an answer is of. */
    static String of(HttpHeaders headers) {
        return headers.firstValue("ETag").orElseGet(() -> headers.firstValue("Last-Modified")
                .map(time -> MODIFIED + time).orElse(UNKNOWN));
    }

    /** Adds the header by which a server refuses to answer with another version. */
    static void require(String version, Map<String, String> headers) {
        if (version.startsWith("\"")) {
            headers.put("If-Match", version);
        } else if (version.startsWith(MODIFIED)) {
            headers.put("If-Unmodified-Since", version.substring(MODIFIED.length()));
        }
    }

    /** Tells whether an answer is known to be of another version, whether or not its server heeds conditions. */
    static boolean isOther(String version, HttpHeaders headers) {
        String found = of(headers);
        return !version.equals(UNKNOWN) && !found.equals(UNKNOWN) && !found.equals(version);
    }
}
