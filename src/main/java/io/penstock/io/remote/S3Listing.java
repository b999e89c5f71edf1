// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import java.io.ByteArrayInputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.HashMap;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * A page of S3's answer to {@code ListObjectsV2}.
 *
 * @param entries the files and folders directly in the prefix, by name
 * @param nextToken asks for the next page; null if there is none
 * @param isTruncated whether the server says that there is more
 */
record S3Listing(Map<String, FileInfo> entries, @Nullable String nextToken, boolean isTruncated) {

    private static final FileInfo FOLDER = new FileInfo(EntryKind.FOLDER, 0, "");

    /**
     * Reads a page.
     *
     * @throws FileSystemException if it is none
     */
    static S3Listing parse(String name, String prefix, byte[] xml) throws FileSystemException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        Map<String, FileInfo> entries = new HashMap<>();
        String next = null;
        String key = "";
        String etag = "";
        long size = -1;
        boolean isList = false;
        boolean isTruncated = false;
        try {
            XMLStreamReader in = factory.createXMLStreamReader(new ByteArrayInputStream(xml));
            while (in.hasNext()) {
                int event = in.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    switch (in.getLocalName()) {
                        case "ListBucketResult" -> isList = true;
                        case "Contents", "CommonPrefixes" -> key = "";
                        case "Key" -> key = decoded(in.getElementText());
                        case "ETag" -> etag = in.getElementText();
                        case "Size" -> size = Long.parseLong(in.getElementText().strip());
                        case "IsTruncated" -> isTruncated = Boolean.parseBoolean(in.getElementText().strip());
                        case "NextContinuationToken" -> next = in.getElementText();
                        case "Prefix" -> key = decoded(in.getElementText());
                        default -> { }
                    }
                } else if (event == XMLStreamConstants.END_ELEMENT) {
                    if (in.getLocalName().equals("Contents")) {
                        add(entries, prefix, key, new FileInfo(EntryKind.FILE, size, etag));
                    } else if (in.getLocalName().equals("CommonPrefixes")) {
                        add(entries, prefix, key.substring(0, Math.max(0, key.length() - 1)), FOLDER);
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
        return new S3Listing(entries, next == null || next.isEmpty() ? null : next, isTruncated);
    }

    private static String decoded(String key) {
        return URLDecoder.decode(key, StandardCharsets.UTF_8);
    }

    /** The object that stands for the folder itself is none of its files. */
    private static void add(Map<String, FileInfo> entries, String prefix, String key, FileInfo info) {
        if (key.startsWith(prefix) && key.length() > prefix.length()) {
            add(entries, key.substring(prefix.length()), info);
        }
    }

    /** Adds an entry. If an object and a folder have one name, it is that of the object, as for who asks for it. */
    static void add(Map<String, ? super FileInfo> entries, String name, FileInfo info) {
        if (info.kind() == EntryKind.FILE || !entries.containsKey(name)) {
            entries.put(name, info);
        }
    }
}
