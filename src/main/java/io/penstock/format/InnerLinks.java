// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Follows only links to regular files below the same folder. Other links, including broken ones and links to folders,
 * are ignored: so all data is in the folder, and each folder is walked once.
 */
public record InnerLinks(Path realRoot) {

    /** Creates the rule for a folder, which may be a link itself. */
    public static InnerLinks of(Path root) throws IOException {
        return new InnerLinks(root.toRealPath());
    }

    /** Tells whether a link leads to a regular file below the folder. One to data that were not fetched is an error. */
    public boolean leadToFile(Path link) throws IOException {
        RegularFile.checkLink(link);
        try {
            Path target = link.toRealPath();
            return target.startsWith(realRoot) && Files.isRegularFile(target);
        } catch (IOException _) {
            return false; // a broken link
        }
    }
}
