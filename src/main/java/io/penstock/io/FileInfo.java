package io.penstock.io;

/**
 * What a {@link FileSource} says of a name.
 *
 * @param kind what is there
 * @param byteSize the size of a regular file; 0 of anything else
 * @param version a text that changes when the content does: an object's ETag; a local file's identity, size and
 *     modification time. Empty if nothing is there
 */
public record FileInfo(Kind kind, long byteSize, String version) {

    /** Nothing is there. */
    public static final FileInfo ABSENT = new FileInfo(Kind.ABSENT, 0, "");

    /** What a name may stand for. */
    public enum Kind {
        /** A regular file, or an object. */
        FILE,
        /** A folder, or a prefix of objects. */
        FOLDER,
        /** A device, a FIFO, a socket: nothing that is read. */
        OTHER,
        /** Nothing. */
        ABSENT
    }
}
