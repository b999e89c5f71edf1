package io.penstock.store;

import io.penstock.io.RegularFile;
import io.penstock.io.publish.CommittedFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * What a format is recognised by: a path, the first bytes of the file, and the files beside it or within the folder.
 *
 * @param path the path; it may be a prefix or a pattern, and there may be no such file
 * @param bytes the first bytes of the file; none if it is not a regular file
 * @param isFile whether it is a regular file
 * @param isFolder whether it is a folder
 */
record Head(Path path, byte[] bytes, boolean isFile, boolean isFolder) {

    /** What any of the formats needs: the header of llm.c's files. */
    private static final int HEAD_BYTES = 1024;

    static Head of(Path path) throws IOException {
        CommittedFolder.Place place = () -> CommittedFolder.locate(path);
        return new Head(path, head(place), CommittedFolder.isFile(place), Files.isDirectory(path));
    }

    /** The file's or folder's own name; empty for a root. */
    String name() {
        return path.getFileName() == null ? "" : path.getFileName().toString();
    }

    boolean nameEndsWith(String... endings) {
        return Arrays.stream(endings).anyMatch(name()::endsWith);
    }

    /** Whether the first bytes are those characters, each of which stands for a byte. */
    boolean startsWith(String latin1) {
        return hasAt(0, latin1);
    }

    boolean hasAt(int offset, String latin1) {
        if (bytes.length < offset + latin1.length()) {
            return false;
        }
        for (int i = 0; i < latin1.length(); i++) {
            if ((bytes[offset + i] & 0xFF) != latin1.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Whether it is a folder with such a file in it. */
    boolean holds(String fileName) {
        return isFolder && Files.isRegularFile(path.resolve(fileName));
    }

    /** The files in the folder whose names end so, sorted by name; none if it is not a folder. */
    List<Path> filesEnding(String ending) throws IOException {
        return isFolder ? CommittedFolder.files(path, name -> name.endsWith(ending)).stream().sorted().toList()
                : List.of();
    }

    /** The first bytes of a file; none if there is no such file. */
    static byte[] head(Path path) throws IOException {
        return head(() -> path);
    }

    /** The first bytes of a file, where it is; none if there is no such file. */
    static byte[] head(CommittedFolder.Place place) throws IOException {
        byte[] bytes = CommittedFolder.openIfThere(place, Head::read);
        return bytes == null ? new byte[0] : bytes;
    }

    private static byte[] read(Path path) throws IOException {
        try (InputStream in = RegularFile.newInputStream(path)) {
            return in.readNBytes(HEAD_BYTES);
        } catch (AccessDeniedException _) {
            throw new AccessDeniedException(path.toString(), null, "permission denied");
        }
    }
}
