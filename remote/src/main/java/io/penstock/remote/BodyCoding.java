// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.net.http.HttpHeaders;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds answers whose body is not the file itself, by their headers: readers would take the encoded bytes for the
 * file's. Requests ask for no encoding; some servers answer with the one that the file was uploaded with.
 *
 * <p>A file whose name says that it is compressed, such as {@code a.tar.gz}, may come with the header of just that
 * compression: the body is the file.
 */
final class BodyCoding {

    /** Codings that leave the body as it is. The S3 clients of AWS leave theirs in the header; it is taken off. */
    private static final Set<String> NONE = Set.of("", "identity", "aws-chunked");

    private static final Map<String, List<String>> ENDINGS = Map.of("gzip", List.of(".gz", ".tgz"), "x-gzip",
            List.of(".gz", ".tgz"), "zstd", List.of(".zst", ".zstd", ".tzst"), "br", List.of(".br"), "bzip2",
            List.of(".bz2", ".tbz2"), "x-bzip2", List.of(".bz2", ".tbz2"), "xz", List.of(".xz", ".txz"), "x-xz",
            List.of(".xz", ".txz"), "compress", List.of(".Z"), "x-compress", List.of(".Z"));

    private BodyCoding() {
    }

    /**
     * Returns the error of an answer whose body is not the file; null for any other.
     *
     * @param name the file's name
     */
    static @Nullable FileSystemException refusal(String name, HttpHeaders headers) {
        List<String> codings = values(headers, "Content-Encoding").filter(one -> !NONE.contains(one)).toList();
        boolean isNamed = codings.size() == 1 && ENDINGS.getOrDefault(codings.getFirst(), List.of()).stream()
                .anyMatch(name::endsWith);
        if (!codings.isEmpty() && !isNamed) {
            return new FileSystemException(name, null, "the server sends it encoded (Content-Encoding: "
                    + String.join(", ", codings)
                    + "), expected the file's own bytes: store it without Content-Encoding, or download and decode it"
                    + " first");
        }
        List<String> transfer = values(headers, "Transfer-Encoding").filter(one -> !NONE.contains(one)
                && !one.equals("chunked")).toList();
        if (!transfer.isEmpty()) {
            return new FileSystemException(name, null, "the server sends it encoded (Transfer-Encoding: "
                    + String.join(", ", transfer) + "), expected none or chunked");
        }
        // Google Cloud Storage decompresses what was uploaded with an encoding: its size and its ranges are others.
        List<String> stored = values(headers, "x-goog-stored-content-encoding").filter(one -> !NONE.contains(one))
                .toList();
        if (!stored.isEmpty() && codings.isEmpty()) {
            return new FileSystemException(name, null, "the server decodes it while it sends it (it was uploaded with"
                    + " Content-Encoding: " + String.join(", ", stored) + "), so that it cannot be read in parts;"
                    + " upload it without");
        }
        if (headers.firstValue("Content-Type").orElse("").strip().toLowerCase(Locale.ROOT)
                .startsWith("multipart/byteranges")) {
            return new FileSystemException(name, null, "the server answers one range with several parts (Content-Type:"
                    + " multipart/byteranges), expected the range's bytes");
        }
        return null;
    }

    private static Stream<String> values(HttpHeaders headers, String name) {
        return headers.allValues(name).stream().flatMap(value -> Arrays.stream(value.split(",")))
                .map(one -> one.strip().toLowerCase(Locale.ROOT));
    }
}
