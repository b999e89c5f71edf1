package io.penstock.io;

import java.nio.file.Path;

/** Resolves paths that one file gives of another: none may lead out of its folder. */
public final class InnerPath {

    private InnerPath() {
    }

    /**
     * Resolves a path to a file in a folder or below it.
     *
     * @param folder the folder
     * @param name the path: names separated by slashes; no name is empty, {@code .} or {@code ..}
     * @return the file's path
     * @throws IllegalArgumentException if the path leads out of the folder or is invalid
     */
    public static Path below(Path folder, String name) {
        check(folder, name);
        return folder.resolve(name);
    }

    /** Rejects a path that leads out of the folder. Checks the text, which is the same on every system and source. */
    static void check(Object folder, String name) {
        // A backslash separates names on other systems, and a name here must be one name there.
        boolean leaves = name.indexOf('\\') >= 0 || name.indexOf('\0') >= 0;
        for (String step : name.split("/", -1)) {
            leaves |= step.isEmpty() || step.equals("..") || step.equals(".");
        }
        if (leaves) {
            throw new IllegalArgumentException("the file name '" + name + "', expected one within the folder "
                    + folder);
        }
    }

    /** Rejects anything but a plain file name. */
    static void checkName(Object folder, String name) {
        check(folder, name);
        if (name.indexOf('/') >= 0) {
            throw new IllegalArgumentException("the file name '" + name + "', expected that of a file in the folder "
                    + folder);
        }
    }

    /**
     * Resolves the name of a file directly in a folder.
     *
     * @param folder the folder
     * @param name the name
     * @return the file's path
     * @throws IllegalArgumentException if it is not a plain file name
     */
    public static Path in(Path folder, String name) {
        checkName(folder, name);
        return folder.resolve(name);
    }
}
