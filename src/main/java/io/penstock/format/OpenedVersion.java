// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.FileInfo;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;

/**
 * What a file was when its store was opened. A file that is opened again by its path later, for example to be decoded,
 * may be another one by then, which the index of the first does not fit. So ask {@link #requireSame} before it is read,
 * and again afterwards.
 */
public record OpenedVersion(Location file, FileInfo info) {

    /** Returns what a file is now. Call this before anything is read that must fit later. */
    public static OpenedVersion of(Location file) throws IOException {
        return new OpenedVersion(file, file.info());
    }

    /** Returns what an open file was when it was opened. */
    public static OpenedVersion of(MappedFile file) {
        return of(file.location(), file.byteSize(), file.version());
    }

    /** Returns what a file was when an index of it was written. */
    public static OpenedVersion of(Location file, long byteSize, String version) {
        return new OpenedVersion(file, new FileInfo(FileInfo.EntryKind.FILE, byteSize, version));
    }

    /**
     * Fails if the path does not lead to this version. For a remote file this is a request.
     *
     * @throws MalformedStoreException if there is no file, or another one
     */
    public void requireSame() throws IOException {
        FileInfo now = file.infoNow();
        if (!now.equals(info)) {
            throw new MalformedStoreException(file, now.kind() != FileInfo.EntryKind.FILE ? "found no such file"
                    : "found " + now.byteSize() + " bytes of version " + now.version()
                            + (now.byteSize() < info.byteSize() ? ", which are fewer" : ""), "the file of "
                    + info.byteSize() + " bytes that it was when the store was opened (" + info.version() + ")");
        }
    }
}
