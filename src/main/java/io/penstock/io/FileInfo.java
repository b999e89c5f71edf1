// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

/**
 * The information that a {@link FileSource} has about a path.
 *
 * @param kind the kind of the entry
 * @param byteSize the size of a regular file, otherwise 0
 * @param version a text that changes with the content: an object's ETag; a local file's identity, size and modification
 *     time. Empty if the path does not exist, {@value #UNKNOWN_VERSION} if the source does not say
 */
public record FileInfo(EntryKind kind, long byteSize, String version) {

    /** The version of a file whose source does not say when it changes. */
    public static final String UNKNOWN_VERSION = "unknown";

    /** The path does not exist. */
    public static final FileInfo ABSENT = new FileInfo(EntryKind.ABSENT, 0, "");

    /** The kinds of entries. */
    public enum EntryKind {
        /** A regular file, or an object. */
        FILE,
        /** A folder, or a prefix of objects. */
        FOLDER,
        /** A device, FIFO or socket, which is never read. */
        OTHER,
        /** Nothing has this name. */
        ABSENT
    }
}
