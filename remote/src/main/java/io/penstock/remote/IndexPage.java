// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The page that an HTTP server shows for a folder: its links are resolved against the page's address (RFC 3986, section
 * 5.2), and those that lead to a name directly in the folder are its entries.
 */
final class IndexPage {

    private static final Pattern LINK = tag("a", "href");
    private static final Pattern BASE = tag("base", "href");
    private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*):(.*)", Pattern.DOTALL);
    private static final Pattern ENTITY = Pattern.compile("&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})"
            + "|(amp|quot|apos|lt|gt));");
    private static final Map<String, String> ENTITIES = Map.of("amp", "&", "quot", "\"", "apos", "'", "lt", "<", "gt",
            ">");
    /** A sign of percent that encodes nothing. */
    private static final Pattern PERCENT = Pattern.compile("%(?![0-9A-Fa-f]{2})");
    private static final FileInfo FOLDER = new FileInfo(EntryKind.FOLDER, 0, "");

    private IndexPage() {
    }

    /** A tag with an attribute, whose value is in double quotes, single ones or none. */
    private static Pattern tag(String tag, String attribute) {
        return Pattern.compile("(?i)<" + tag + "\\s(?:[^>]{0,500}?\\s)?" + attribute
                + "\\s*=\\s*(?:\"([^\"]*)\"|'([^']*)'|([^\\s\"'>]+))");
    }

    /**
     * Returns the files and folders that a page links to, by name. Nothing is known of a file: null.
     *
     * @param page where the page is, behind all redirects
     */
    static Map<String, @Nullable FileInfo> entries(URI page, String html) {
        String address = withPath(page.getScheme() + "://" + page.getRawAuthority() + page.getRawPath());
        Matcher given = BASE.matcher(html);
        String base = given.find() ? resolve(address, value(given)) : address;
        String folder = decoded(address.substring(0, address.lastIndexOf('/') + 1));
        Map<String, @Nullable FileInfo> entries = new HashMap<>();
        Matcher link = LINK.matcher(html);
        while (link.find()) {
            String target = value(link);
            if (target.indexOf('?') >= 0) {
                continue;       // another order of the page
            }
            String found = resolve(base, target.replaceFirst("#.*", ""));
            boolean isFolder = found.endsWith("/");
            String path = decoded(isFolder ? found.substring(0, found.length() - 1) : found);
            String name = path.startsWith(folder) ? path.substring(folder.length()) : "";
            if (!name.isEmpty() && name.indexOf('/') < 0) {
                entries.put(name, isFolder ? FOLDER : null);
            }
        }
        return entries;
    }

    private static String value(Matcher tag) {
        String text = tag.group(1) != null ? tag.group(1) : tag.group(2) != null ? tag.group(2) : tag.group(3);
        return ENTITY.matcher(text.strip()).replaceAll(found -> Matcher.quoteReplacement(found.group(3) != null
                ? ENTITIES.getOrDefault(found.group(3), "") : character(found)));
    }

    private static String character(MatchResult entity) {
        int code = entity.group(1) != null ? Integer.parseInt(entity.group(1)) : Integer.parseInt(entity.group(2), 16);
        return Character.isValidCodePoint(code) ? Character.toString(code) : entity.group();
    }

    /** Resolves a link. Unlike {@link URI}, it takes any characters. */
    private static String resolve(String base, String link) {
        Matcher absolute = SCHEME.matcher(link);
        int path = base.indexOf('/', base.indexOf("//") + 2);
        String scheme = base.substring(0, base.indexOf(':'));
        if (absolute.matches()) {
            String known = absolute.group(1).toLowerCase(Locale.ROOT);
            return known.equals("http") || known.equals("https") ? withPath(known + ":" + absolute.group(2)) : "";
        }
        return link.startsWith("//") ? withPath(scheme + ":" + link)
                : withPath(link.startsWith("/") ? base.substring(0, path) + link : link.isEmpty() ? base
                        : base.substring(0, base.lastIndexOf('/') + 1) + link);
    }

    /** Lowers the host, and removes the segments {@code .} and {@code ..} of the path. */
    private static String withPath(String uri) {
        int host = uri.indexOf("//") + 2;
        int slash = uri.indexOf('/', host);
        if (host < 2 || slash < 0) {
            return uri + "/";
        }
        Deque<String> kept = new ArrayDeque<>();
        String[] segments = uri.substring(slash + 1).split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            String one = segments[i];
            if (one.equals("..")) {
                kept.pollLast();
            }
            if (!one.equals(".") && !one.equals("..")) {
                kept.addLast(one);
            } else if (i == segments.length - 1) {
                kept.addLast("");
            }
        }
        return uri.substring(0, slash).toLowerCase(Locale.ROOT) + "/" + String.join("/", kept);
    }

    /** Decodes a link as a browser does: a sign of percent that encodes nothing stands for itself. */
    private static String decoded(String link) {
        return URLDecoder.decode(PERCENT.matcher(link).replaceAll("%25").replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
