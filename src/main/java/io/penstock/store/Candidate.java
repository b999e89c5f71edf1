package io.penstock.store;

import io.penstock.io.FileInfo;
import io.penstock.io.Location;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.util.Arrays;
import java.util.List;

/**
 * A path that may be that of a store, as a {@link StoreProvider} sees it when it says whether the store is in its
 * format.
 *
 * @param path the path; it may be a prefix or a pattern, and there may be no such file
 * @param head the first 1024 bytes of the file, or all of it if it is shorter, not to be changed; none if it is not a
 *     regular file
 * @param isFile whether it is a regular file
 * @param isFolder whether it is a folder
 */
public record Candidate(Location path, byte[] head, boolean isFile, boolean isFolder) {

    /** What any of the formats needs: the header of llm.c's files. */
    private static final int HEAD_BYTES = 1024;

    static Candidate of(Location path) throws IOException {
        FileInfo info = path.info();
        boolean isFile = info.kind() == FileInfo.Kind.FILE;
        return new Candidate(path, isFile ? headOf(path) : new byte[0], isFile, info.kind() == FileInfo.Kind.FOLDER);
    }

    /**
     * The first bytes of another file, such as one beside this.
     *
     * @param file a regular file
     * @return its first 1024 bytes, or all of it if it is shorter
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static byte[] headOf(Location file) throws IOException {
        try (InputStream in = file.newInputStream()) {
            return in.readNBytes(HEAD_BYTES);
        } catch (AccessDeniedException _) {
            throw new AccessDeniedException(file.toString(), null, "permission denied");
        }
    }

    /**
     * The file's or folder's own name.
     *
     * @return the last part of the path; empty for a root
     */
    public String name() {
        return path.name();
    }

    /**
     * Whether the name ends in one of several ways.
     *
     * @param endings the endings, with their dots
     * @return true if one of them is the name's, in the same case
     */
    public boolean nameEndsWith(String... endings) {
        return Arrays.stream(endings).anyMatch(name()::endsWith);
    }

    /**
     * Whether the file starts with some bytes.
     *
     * @param latin1 characters, each of which stands for a byte
     * @return true if they are its first bytes
     */
    public boolean startsWith(String latin1) {
        if (head.length < latin1.length()) {
            return false;
        }
        for (int i = 0; i < latin1.length(); i++) {
            if ((head[i] & 0xFF) != latin1.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether it is a folder with a certain file in it.
     *
     * @param fileName the file's name
     * @return true if the folder has a regular file of that name
     * @throws IOException if the source of the files cannot tell
     */
    public boolean holds(String fileName) throws IOException {
        return isFolder && path.resolve(fileName).isFile();
    }

    /**
     * The files in the folder whose names end in a certain way.
     *
     * @param ending the ending, with its dot
     * @return their paths, sorted; none if it is not a folder
     * @throws IOException if the folder cannot be read
     */
    public List<Location> filesEnding(String ending) throws IOException {
        return isFolder ? path.files(name -> name.endsWith(ending)) : List.of();
    }
}
