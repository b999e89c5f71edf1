package io.penstock.store;

import io.penstock.io.FileInfo;
import io.penstock.io.Location;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
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
record Head(Location path, byte[] bytes, boolean isFile, boolean isFolder) {

    /** What any of the formats needs: the header of llm.c's files. */
    private static final int HEAD_BYTES = 1024;

    static Head of(Location path) throws IOException {
        FileInfo info = path.info();
        boolean isFile = info.kind() == FileInfo.Kind.FILE;
        return new Head(path, isFile ? read(path) : new byte[0], isFile, info.kind() == FileInfo.Kind.FOLDER);
    }

    /** The file's or folder's own name; empty for a root. */
    String name() {
        return path.name();
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
    boolean holds(String fileName) throws IOException {
        return isFolder && path.resolve(fileName).isFile();
    }

    /** The files in the folder whose names end so, sorted by name; none if it is not a folder. */
    List<Location> filesEnding(String ending) throws IOException {
        return isFolder ? path.files(name -> name.endsWith(ending)) : List.of();
    }

    /** The first bytes of a file; none if there is no such file. */
    static byte[] head(Location file) throws IOException {
        return file.isFile() ? read(file) : new byte[0];
    }

    private static byte[] read(Location file) throws IOException {
        try (InputStream in = file.newInputStream()) {
            return in.readNBytes(HEAD_BYTES);
        } catch (AccessDeniedException _) {
            throw new AccessDeniedException(file.toString(), null, "permission denied");
        }
    }
}
