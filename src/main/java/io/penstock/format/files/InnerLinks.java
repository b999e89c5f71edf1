package io.penstock.format.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Follows only links to regular files below the same folder. Other links, including broken ones and links to folders,
 * are ignored: so all data is in the folder, and each folder is walked once.
 *
 * @param realRoot the folder's real path, without links
 */
public record InnerLinks(Path realRoot) {

    /**
     * The rule for a folder.
     *
     * @param root the folder; may be a link itself
     * @return the rule
     * @throws IOException if there is no such folder
     */
    public static InnerLinks of(Path root) throws IOException {
        return new InnerLinks(root.toRealPath());
    }

    /**
     * Whether a link is taken.
     *
     * @param link a link somewhere below the folder
     * @return true if it leads to a regular file that is below the folder too
     */
    public boolean leadToFile(Path link) {
        try {
            Path target = link.toRealPath();
            return target.startsWith(realRoot) && Files.isRegularFile(target);
        } catch (IOException _) {
            return false; // it leads nowhere
        }
    }
}
