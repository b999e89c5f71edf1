package io.penstock.format.arrow;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The schema that Arrow embeds in files of other formats, to keep column types that they cannot express: the first
 * message of a stream.
 */
public final class EmbeddedSchema {

    private static final int CONTINUATION = -1;
    private static final int TYPE_FIELD = 1;
    private static final int HEADER_FIELD = 2;

    private EmbeddedSchema() {
    }

    /**
     * Reads a schema.
     *
     * @param file the file that holds it, for messages
     * @param message its bytes
     * @return the fields of the table
     * @throws MalformedStoreException if it is none
     */
    public static List<ArrowField> read(Location file, byte[] message) throws MalformedStoreException {
        MemorySegment bytes = MemorySegment.ofArray(message);
        int at = 0;
        int length = CONTINUATION;
        for (int i = 0; i < 2 && length == CONTINUATION && at <= message.length - Integer.BYTES; i++) {
            length = bytes.get(LittleEndian.I32, at);
            at += Integer.BYTES;
        }
        if (length < 0 || length > message.length - at) {
            throw new MalformedStoreException(file, "a schema of Arrow of " + length + " bytes", "at most "
                    + (message.length - at));
        }
        FlatTable root = FlatTable.root(file, bytes.asSlice(at, length), at);
        FlatTable header = root.table(HEADER_FIELD);
        if (root.u8(TYPE_FIELD, 0) != ArrowMessage.SCHEMA || header == null) {
            throw root.malformed("a message of type " + root.u8(TYPE_FIELD, 0), "a schema");
        }
        return ArrowField.readAll(header);
    }
}
