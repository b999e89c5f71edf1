// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * A path that may name a store, as a {@link StoreProvider} sees it during format detection.
 *
 * @param path the path; may be a prefix or a pattern, and need not exist
 * @param head the first 1024 bytes of the file, or the whole file if shorter; empty if it is not a regular file; not to
 *     be modified
 * @param isFile whether it is a regular file
 * @param isFolder whether it is a folder
 */
public record Candidate(Location path, byte[] head, boolean isFile, boolean isFolder) {

    /** The most that a format needs: the header of llm.c files. */
    private static final int HEAD_BYTES = 1024;
    /** So many names are looked at before a folder is listed with a look at every file. */
    private static final int FIRST_FILES = 16;

    static Candidate of(Location path) throws IOException {
        FileInfo info = path.info();
        boolean isFile = info.kind() == EntryKind.FILE;
        return new Candidate(path, isFile ? headOf(path) : new byte[0], isFile, info.kind() == EntryKind.FOLDER);
    }

    /**
     * Reads the first bytes of another file, for example of a sibling.
     *
     * @param file a regular file
     * @return its first 1024 bytes, or the whole file if shorter
     * @throws IOException if the file is missing or cannot be read
     */
    public static byte[] headOf(Location file) throws IOException {
        try (InputStream in = file.newInputStream()) {
            return in.readNBytes(HEAD_BYTES);
        } catch (AccessDeniedException e) {
            if (e.getReason() != null || file.local().isEmpty()) {
                throw e;        // a server's word, or one of the cache's own files
            }
            throw new AccessDeniedException(file.toString(), null, "permission denied");
        }
    }

    /** {@return the name of the file or folder; empty for a root} */
    public String name() {
        return path.name();
    }

    /**
     * {@return whether the name ends in one of several endings (case-sensitive)}
     *
     * @param endings the endings, with their dots
     */
    public boolean nameEndsWith(String... endings) {
        return Arrays.stream(endings).anyMatch(name()::endsWith);
    }

    /**
     * {@return whether the file starts with given bytes}
     *
     * @param latin1 the bytes, as one Latin-1 character each
     */
    public boolean startsWith(String latin1) {
        return new String(head, StandardCharsets.ISO_8859_1).startsWith(latin1);
    }

    /**
     * {@return whether this is a folder that contains a regular file of a given name}
     *
     * @param fileName the file's name
     * @throws IOException if the file source fails
     */
    public boolean holds(String fileName) throws IOException {
        return isFolder && path.resolve(fileName).isFile();
    }

    /**
     * {@return whether this is a folder that contains a regular file with a given ending} Of very many such files only
     * the first few are looked at, unless these are none.
     *
     * @param ending the ending, with its dot
     * @throws IOException if the folder cannot be read
     */
    public boolean holdsEnding(String ending) throws IOException {
        if (!isFolder) {
            return false;
        }
        Set<String> first = new HashSet<>();
        return !path.files(name -> name.endsWith(ending)
                        && (first.contains(name) || first.size() < FIRST_FILES && first.add(name))).isEmpty()
                || first.size() == FIRST_FILES && !path.files(name -> name.endsWith(ending)).isEmpty();
    }
}
