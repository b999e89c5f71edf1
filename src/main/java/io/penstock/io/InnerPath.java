package io.penstock.io;

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
        check(folder, name);
        return folder.resolve(name);
    }

    /** Refuses a path that leads elsewhere: as text, which is the same on every system and in every source. */
    static void check(Object folder, String name) {
        // A backslash separates names on other systems, and what is one name here must be one there.
        boolean leaves = name.indexOf('\\') >= 0 || name.indexOf('\0') >= 0;
        for (String step : name.split("/", -1)) {
            leaves |= step.isEmpty() || step.equals("..") || step.equals(".");
        }
        if (leaves) {
            throw new IllegalArgumentException("the file name '" + name + "', expected one within the folder "
                    + folder);
        }
    }

    /** Refuses what is no name of a file right in a folder. */
    static void checkName(Object folder, String name) {
        check(folder, name);
        if (name.indexOf('/') >= 0) {
            throw new IllegalArgumentException("the file name '" + name + "', expected that of a file in the folder "
                    + folder);
        }
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
        checkName(folder, name);
        return folder.resolve(name);
    }
}
