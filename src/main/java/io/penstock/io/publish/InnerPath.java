package io.penstock.io.publish;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Paths that files give of other files: none may lead out of the folder that it is given in. */
public final class InnerPath {

    private InnerPath() {
    }

    /**
     * Resolves a path to a file in a folder or below it.
     *
     * @param folder the folder
     * @param name the path: names with slashes between them; no name is empty, {@code .} or {@code ..}
     * @return the file's path
     * @throws IllegalArgumentException if the path leads elsewhere, or is none
     */
    public static Path below(Path folder, String name) {
        try {
            Path relative = Path.of(name);
            // A backslash separates names on other systems, and what is one name here must be one there.
            boolean leaves = relative.isAbsolute() || relative.getRoot() != null || name.indexOf('\\') >= 0;
            for (Path step : relative) {
                leaves |= step.toString().isEmpty() || step.toString().equals("..") || step.toString().equals(".");
            }
            if (!leaves) {
                return folder.resolve(relative);
            }
        } catch (InvalidPathException _) {
            // refused below
        }
        throw new IllegalArgumentException("the file name '" + name + "', expected one within the folder " + folder);
    }

    /**
     * Resolves the name of a file that is right in a folder.
     *
     * @param folder the folder
     * @param name the name
     * @return the file's path
     * @throws IllegalArgumentException if it is no name of a file
     */
    public static Path in(Path folder, String name) {
        Path file = below(folder, name);
        if (name.indexOf('/') >= 0) {
            throw new IllegalArgumentException("the file name '" + name + "', expected that of a file in the folder "
                    + folder);
        }
        return file;
    }
}
