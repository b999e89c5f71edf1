// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.lake.DeletedRows;
import java.io.EOFException;
import java.io.IOException;
import java.util.Objects;
import java.util.stream.LongStream;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.deletes.PositionDeleteIndex;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.SeekableInputStream;

/** A bitmap of deleted rows in a Puffin file. It is read when the data file is opened. */
final class DeletionVector implements DeletedRows {

    private final FileIO files;
    private final DeleteFile vector;

    DeletionVector(FileIO files, DeleteFile vector) {
        this.files = files;
        this.vector = vector;
    }

    @Override
    public long count() {
        return vector.recordCount();
    }

    @Override
    public long[] positions() throws IOException {
        byte[] bytes = new byte[Math.toIntExact(Objects.requireNonNull(vector.contentSizeInBytes()))];
        try (SeekableInputStream in = files.newInputFile(vector.location()).newStream()) {
            in.seek(Objects.requireNonNull(vector.contentOffset()));
            if (in.readNBytes(bytes, 0, bytes.length) < bytes.length) {
                throw new EOFException(vector.location() + ": found its end within a deletion vector, expected "
                        + bytes.length + " bytes at " + vector.contentOffset());
            }
        }
        LongStream.Builder positions = LongStream.builder();
        PositionDeleteIndex.deserialize(bytes, vector).forEach(positions::add);
        return positions.build().sorted().toArray();
    }

    @Override
    public String id() {
        return vector.location().substring(vector.location().lastIndexOf('/') + 1) + "@" + vector.contentOffset();
    }
}
