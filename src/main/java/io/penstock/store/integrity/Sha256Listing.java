// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file's digest in a {@code sha256sum} listing next to it: {@code X.sha256} for {@code X.bin}, as our writers name
 * it, {@code X.bin.sha256} or {@code SHA256SUMS}. Other lines are skipped: listings may be signed or have comments.
 */
record Sha256Listing(Location listing, Location file, String hex) {

    private static final List<String> NAMES =
            List.of("SHA256SUMS", "SHA256SUMS.txt", "sha256sums.txt", "sha256sum.txt");
    private static final Pattern LINE = Pattern.compile("(\\\\?)([0-9a-fA-F]{64}) [ *](?:\\./)?(.+)");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");
    private static final long MAX_LISTING_BYTES = 64 << 20;

    /**
     * Returns the listing that contains a file; null if there is none. {@code read} caches listings as digests by name,
     * because they may have millions of files.
     */
    static @Nullable Sha256Listing of(Location file, Map<Location, Map<String, String>> read) throws IOException {
        String name = file.name();
        List<String> listings = new ArrayList<>();
        int dot = name.lastIndexOf('.');
        if (dot > 0) {
            listings.add(name.substring(0, dot) + ".sha256");
        }
        listings.add(name + ".sha256");
        listings.addAll(NAMES);
        for (String each : listings) {
            Location listing = file.resolveSibling(each);
            Map<String, String> digests = each.equals(name) || !listing.isFile() ? Map.of() : digests(listing, read);
            if (digests.containsKey(name)) {
                return new Sha256Listing(listing, file, digests.get(name));
            }
        }
        return null;
    }

    private static Map<String, String> digests(Location listing, Map<Location, Map<String, String>> read)
            throws IOException {
        Map<String, String> digests = read.get(listing);
        if (digests == null) {
            digests = listing.byteSize() > MAX_LISTING_BYTES ? Map.of() : read(listing);
            read.put(listing, digests);
        }
        return digests;
    }

    /** Reads the digests by name; of duplicate names the first. */
    private static Map<String, String> read(Location listing) throws IOException {
        Map<String, String> digests = new HashMap<>();
        String text = new String(listing.readAllBytes(), StandardCharsets.UTF_8);
        for (String line : text.split("\n")) {
            Matcher matcher = LINE.matcher(line.endsWith("\r") ? line.substring(0, line.length() - 1) : line);
            if (matcher.matches()) {
                String name = matcher.group(3);
                digests.putIfAbsent(matcher.group(1).isEmpty() ? name : unescaped(name),
                        matcher.group(2).toLowerCase(Locale.ROOT));
            }
        }
        return digests;
    }

    /** Unescapes the name in a line that begins with a backslash. */
    private static String unescaped(String name) {
        return ESCAPE.matcher(name).replaceAll(escape -> switch (escape.group(1)) {
            case "n" -> "\n";
            case "r" -> "\r";
            default -> Matcher.quoteReplacement(escape.group(1));
        });
    }

    /** Digests the file; returns null if the digest matches, otherwise the fault. */
    @Nullable Fault check(LongConsumer read) throws IOException {
        String found;
        try (InputStream in = file.newInputStream()) {
            found = Sha256.hex(in, read);
        }
        return found.equals(hex) ? null : new Fault(file, "sha256", file + ": SHA-256 " + found + ", expected " + hex
                + ", as " + listing.name() + " says");
    }
}
