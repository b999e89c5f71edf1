// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What precedes the body of an answer (RFC 9112).
 *
 * @param bodyBytes the bytes of the body; -1 if the head does not say
 * @param isKeptAlive whether the connection may be used again
 */
record HttpHead(int statusCode, HttpHeaders headers, HttpClient.Version version, long bodyBytes, boolean isKeptAlive)
        implements ResponseInfo {

    private static final int MOST_BYTES = 64 << 10;
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.([01]) ([1-5][0-9]{2})(?: [^\r\n]*)?");
    /** The value has any byte that ends no line: a name of a file in UTF-8 may have one that ISO 8859-1 calls NEL. */
    private static final Pattern FIELD = Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n]*)");
    /** An empty line behind another one. */
    private static final int END = '\r' << 24 | '\n' << 16 | '\r' << 8 | '\n';
    private static final int SUCCESS = 200;
    private static final int REDIRECT = 300;

    /**
     * Reads a head, behind those that only say that the answer will come.
     *
     * @param buffer has the bytes up to its position that were read already; afterwards, what follows the head
     */
    static HttpHead read(ByteBuffer buffer, ReadableByteChannel from) throws IOException {
        while (true) {
            int end = 0;
            for (int last = 0; last != END; end++) {
                if (end == MOST_BYTES || end == buffer.position() && from.read(buffer) < 0) {
                    throw new IOException("an answer whose headers do not end");
                }
                last = last << Byte.SIZE | buffer.get(end);
            }
            byte[] bytes = new byte[end];
            buffer.get(0, bytes);
            buffer.flip().position(end);
            HttpHead head = parse(new String(bytes, StandardCharsets.ISO_8859_1));
            if (head.statusCode >= SUCCESS) {
                return head;
            }
            buffer.compact();
        }
    }

    private static HttpHead parse(String text) throws IOException {
        String[] lines = text.substring(0, text.length() - 4).split("\r\n", -1);
        Matcher status = STATUS.matcher(lines[0]);
        if (!status.matches()) {
            throw new IOException("no answer of an HTTP server");
        }
        Map<String, List<String>> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int i = 1; i < lines.length; i++) {
            Matcher field = FIELD.matcher(lines[i]);
            if (!field.matches()) {
                throw new IOException("an answer with a line that is no header");
            }
            fields.computeIfAbsent(field.group(1), _ -> new ArrayList<>()).add(field.group(2).strip());
        }
        HttpHeaders headers = HttpHeaders.of(fields, (_, _) -> true);
        int code = Integer.parseInt(status.group(2));
        long length = bodyBytes(headers);
        boolean isClosed = length < 0 || status.group(1).equals("0") || headers.allValues("Connection").stream()
                .anyMatch(value -> value.toLowerCase(Locale.ROOT).contains("close"));
        // The body of an error without a length is left.
        return new HttpHead(code, headers, HttpClient.Version.HTTP_1_1, length < 0 && code >= REDIRECT ? 0 : length,
                !isClosed);
    }

    private static long bodyBytes(HttpHeaders headers) throws IOException {
        List<String> lengths = headers.allValues("Content-Length");
        if (lengths.isEmpty() || headers.firstValue("Transfer-Encoding").isPresent()) {
            return -1;
        }
        String length = lengths.getFirst();
        if (!length.matches("[0-9]{1,18}") || !lengths.stream().allMatch(length::equals)) {
            throw new IOException("an answer of " + lengths + " bytes");
        }
        return Long.parseLong(length);
    }
}
