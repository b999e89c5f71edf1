// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Percent-encoding as RFC 3986 and AWS's signature want it: only letters, digits and {@code -._~} stay. */
final class UriText {

    private static final String UNRESERVED = "-._~";

    /** Encodes a path; slashes stay. */
    static String path(String path) {
        return encode(path, UNRESERVED + "/");
    }

    /** Encodes a part of a path, with its slashes. */
    static String segment(String part) {
        return encode(part, UNRESERVED);
    }

    /** Encodes a query, in the order of the map. */
    static String query(Map<String, String> parameters) {
        return parameters.entrySet().stream().map(one -> encode(one.getKey(), UNRESERVED) + "="
                + encode(one.getValue(), UNRESERVED)).collect(Collectors.joining("&"));
    }

    /**
     * Returns the address of a service.
     *
     * @param what what names it, for messages
     * @throws IllegalArgumentException if it is no URI with a host
     */
    static URI endpoint(String what, String text, String example) {
        String found = "no URI of http or https with a host";
        try {
            URI uri = new URI(text);
            boolean isHttp = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            if (isHttp && uri.getHost() != null) {
                return uri;
            }
            if (isHttp && uri.getRawAuthority() != null && uri.getRawAuthority().indexOf('_') >= 0) {
                found = "the host " + uri.getRawAuthority() + ", but names of hosts have no '_' (RFC 1123): give it"
                        + " another name or an alias, or use its address";
            }
        } catch (URISyntaxException _) {
            // its message may have a password
        }
        throw new IllegalArgumentException(what + ": found " + found + "; expected a URI such as " + example);
    }

    private static String encode(String text, String kept) {
        StringBuilder encoded = new StringBuilder();
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            boolean stays = one >= 0 && (Character.isLetterOrDigit(one) || kept.indexOf(one) >= 0);
            encoded.append(stays ? String.valueOf((char) one) : String.format(Locale.ROOT, "%%%02X", one));
        }
        return encoded.toString();
    }
}
