// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

/**
 * Resolves names that one file gives of another: none may lead out of its folder. The checks are on the text, so they
 * are the same on every system and source.
 */
public final class InnerPath {

    /**
     * Accepts names separated by slashes; no name is empty, {@code .} or {@code ..}. Throws {@link
     * IllegalArgumentException} if the path leads out of the folder or is invalid.
     */
    public static void check(Object folder, String name) {
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

    /** Accepts the plain name of a file; throws {@link IllegalArgumentException} for anything else. */
    public static void checkName(Object folder, String name) {
        check(folder, name);
        if (name.indexOf('/') >= 0) {
            throw new IllegalArgumentException("the file name '" + name + "', expected that of a file in the folder "
                    + folder);
        }
    }
}
