// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import java.io.ByteArrayInputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * A page of S3's answer to {@code ListObjectsV2}.
 *
 * @param entries the files and folders directly in the prefix, by name; null if the page lacks a file's size or ETag
 * @param nextToken asks for the next page; null if there is none
 * @param isTruncated whether the server says that there is more
 */
record S3Listing(Map<String, @Nullable FileInfo> entries, @Nullable String nextToken, boolean isTruncated) {

    private static final FileInfo FOLDER = new FileInfo(EntryKind.FOLDER, 0, "");

    /** An entry by its key as the page has it. */
    private record Listed(String key, @Nullable FileInfo info) {
    }

    /**
     * Reads a page. Keys are encoded only where the page says so: not every server heeds {@code encoding-type=url}.
     *
     * @throws FileSystemException if it is none
     */
    static S3Listing parse(String name, String prefix, byte[] xml) throws FileSystemException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        List<Listed> listed = new ArrayList<>();
        String next = null;
        String key = "";
        String etag = "";
        long size = -1;
        boolean isEncoded = false;
        boolean isList = false;
        boolean isTruncated = false;
        try {
            XMLStreamReader in = factory.createXMLStreamReader(new ByteArrayInputStream(xml));
            while (in.hasNext()) {
                int event = in.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    switch (in.getLocalName()) {
                        case "ListBucketResult" -> isList = true;
                        case "Contents", "CommonPrefixes" -> {
                            key = "";
                            etag = "";
                            size = -1;
                        }
                        case "Key" -> key = in.getElementText();
                        case "ETag" -> etag = in.getElementText();
                        case "Size" -> size = Long.parseLong(in.getElementText().strip());
                        case "EncodingType" -> isEncoded = in.getElementText().strip().equals("url");
                        case "IsTruncated" -> isTruncated = Boolean.parseBoolean(in.getElementText().strip());
                        case "NextContinuationToken" -> next = in.getElementText();
                        case "Prefix" -> key = in.getElementText();
                        default -> { }
                    }
                } else if (event == XMLStreamConstants.END_ELEMENT) {
                    if (in.getLocalName().equals("Contents")) {
                        listed.add(new Listed(key, etag.isEmpty() || size < 0 ? null
                                : new FileInfo(EntryKind.FILE, size, quoted(etag))));
                    } else if (in.getLocalName().equals("CommonPrefixes")) {
                        listed.add(new Listed(key, FOLDER));
                    }
                }
            }
        } catch (XMLStreamException | IllegalArgumentException e) {
            throw new FileSystemException(name, null, "the server's list of objects cannot be read: "
                    + e.getClass().getSimpleName());
        }
        if (!isList) {
            throw new FileSystemException(name, null, "the server answers no list of objects");
        }
        Map<String, @Nullable FileInfo> entries = new HashMap<>();
        for (Listed one : listed) {
            add(entries, name, prefix, isEncoded ? URLDecoder.decode(one.key, StandardCharsets.UTF_8) : one.key,
                    one.info);
        }
        return new S3Listing(entries, next == null || next.isEmpty() ? null : next, isTruncated);
    }

    /** Some servers leave out the quotes, which are part of an ETag where it is a header. */
    private static String quoted(String etag) {
        return etag.startsWith("\"") || etag.startsWith("W/") ? etag : "\"" + etag + "\"";
    }

    /** The object that stands for the folder itself is none of its files. */
    private static void add(Map<String, @Nullable FileInfo> entries, String name, String prefix, String key,
            @Nullable FileInfo info) throws FileSystemException {
        if (!key.startsWith(prefix)) {
            throw new FileSystemException(name, null, "the server lists '" + key + "', which does not begin with '"
                    + prefix + "' as it was asked");
        }
        String rest = key.substring(prefix.length(), info == FOLDER ? Math.max(prefix.length(), key.length() - 1)
                : key.length());
        if (!rest.isEmpty()) {
            add(entries, rest, info);
        }
    }

    /** Adds an entry. If an object and a folder have one name, it is that of the object, as for who asks for it. */
    static void add(Map<String, @Nullable FileInfo> entries, String name, @Nullable FileInfo info) {
        if (info == null || info.kind() == EntryKind.FILE || !entries.containsKey(name)) {
            entries.put(name, info);
        }
    }
}
