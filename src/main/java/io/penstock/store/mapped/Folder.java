package io.penstock.store.mapped;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Calls on folders. */
public final class Folder {

    private Folder() {
    }

    /**
     * The folder that a file is in.
     *
     * @param file the file
     * @return its folder; that of the process if the path names none
     */
    public static Path of(Path file) {
        return file.toAbsolutePath().getParent();
    }

    /**
     * Makes the renames and deletions in a folder last.
     *
     * @param folder the folder
     * @throws IOException if it cannot be flushed
     */
    public static void flush(Path folder) throws IOException {
        // Windows opens no folder as a file; there the file system orders the rename by itself.
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
