// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A status that a server may not answer to the same request again. */
final class StatusException extends IOException {

    private static final long serialVersionUID = 1;

    private static final Set<Integer> TEMPORARY = Set.of(408, 429, 500, 502, 503, 504);
    /** S3's word, with status 400, for a body that came too slowly. */
    private static final String TOO_SLOW = "RequestTimeout";
    private static final Pattern S3_ERROR = Pattern.compile("<Code>([^<]{1,100})</Code>");

    /** How long the server wants to be left alone; zero if it does not say. */
    private final Duration retryAfter;
    private final int status;

    private StatusException(String message, int status, Duration retryAfter) {
        super(message);
        this.status = status;
        this.retryAfter = retryAfter;
    }

    Duration retryAfter() {
        return retryAfter;
    }

    /** Tells whether the server has too many requests. */
    boolean isOverload() {
        return status == 429 || status == 503;
    }

    /**
     * Returns the error of a status that is no success: a {@link FileSystemException} if the request would fail again.
     *
     * @param body the start of the answer's body
     */
    static IOException of(String name, int status, HttpHeaders headers, String body) {
        Matcher code = S3_ERROR.matcher(body);
        String word = code.find() ? code.group(1) : "";
        String reason = "status " + status + (word.isEmpty() ? "" : " " + word);
        if (TEMPORARY.contains(status) || word.equals(TOO_SLOW)) {
            return new StatusException(name + ": " + reason, status, headers.firstValue("Retry-After")
                    .map(StatusException::delay).orElse(Duration.ZERO));
        }
        String region = headers.firstValue(S3Objects.BUCKET_REGION).orElse("");
        if (!region.isEmpty() && (status == 301 || status == 307 || status == 400)) {
            return new OtherRegionException(name, region);
        }
        return switch (status) {
            case 401, 403 -> new AccessDeniedException(name, null, "access denied (" + reason + ")");
            case 404, 410 -> new NoSuchFileException(name, null, "no such object (" + reason + ")");
            case 412, 416 -> new FileSystemException(name, null, "the object was replaced while it was read (" + reason
                    + ")");
            default -> new FileSystemException(name, null, reason + ", expected 200 or 206");
        };
    }

    /** Seconds, or a date; zero for anything else. */
    private static Duration delay(String text) {
        if (text.matches("[0-9]{1,6}")) {
            return Duration.ofSeconds(Long.parseLong(text));
        }
        try {
            Instant until = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
            Duration delay = Duration.between(Instant.now(), until);
            return delay.isNegative() ? Duration.ZERO : delay;
        } catch (DateTimeParseException _) {
            return Duration.ZERO;
        }
    }
}
