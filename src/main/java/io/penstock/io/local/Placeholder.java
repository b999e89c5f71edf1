// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

import io.penstock.error.MalformedStoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The small texts and links that version control keeps in place of large files until they are fetched. All that opens
 * files for reading refuses them: a pointer is text, and would be tokenized, or read as numbers.
 */
public enum Placeholder {

    /** As docs/spec.md of git-lfs says, and as its forerunners wrote it. */
    GIT_LFS("version https?://(?:git-lfs\\.github\\.com|hawser\\.github\\.com|git-media\\.io)/.*\noid .*",
            "a Git LFS pointer", "git lfs pull"),
    /** Unlocked files, and links on file systems without links. */
    GIT_ANNEX("(?:[./]*\\.git)?[/\\\\]annex[/\\\\]objects[/\\\\][^\n]+--.*", "a git-annex pointer", "git annex get"),
    GIT_XET("# xet version [0-9].*", "a git-xet pointer", "git xet checkout"),
    GIT_FAT("#\\$# git-fat .*", "a git-fat pointer", "git fat pull"),
    /** Only in files of its ending. */
    DVC("(?:.*\n)?outs:\\s.*", "a DVC pointer", "dvc pull");

    /** The longest that is looked at: no Git LFS pointer is as long. */
    public static final int MAX_BYTES = 1024;

    private static final String DVC_ENDING = ".dvc";
    private static final Pattern ANNEX_LINK = Pattern.compile("(?s).*annex[/\\\\]objects[/\\\\].*");

    private final Pattern content;
    private final String found;
    private final String command;

    Placeholder(String content, String found, String command) {
        this.content = Pattern.compile(content, Pattern.DOTALL);
        this.found = found;
        this.command = command;
    }

    /** Tells whether {@link #check(Object, byte[])} needs a file's first bytes. */
    public static boolean mayBe(String name, long byteSize) {
        return byteSize > 0 && (byteSize <= MAX_BYTES || name.endsWith(DVC_ENDING));
    }

    /**
     * Fails if a file is a placeholder.
     *
     * @param file its path or location
     * @param head its first {@link #MAX_BYTES}, or all
     */
    public static void check(Object file, byte[] head) {
        String text = new String(head, StandardCharsets.ISO_8859_1);
        for (Placeholder kind : values()) {
            if (kind.content.matcher(text).matches() && (kind != DVC || file.toString().endsWith(DVC_ENDING))) {
                throw refusal(file, kind.found, kind);
            }
        }
    }

    private static MalformedStoreException refusal(Object file, String found, Placeholder kind) {
        return new MalformedStoreException(file, "found " + found, "the data; fetch them with '" + kind.command + "'");
    }

    /** Fails if a path is a link of git-annex to content that is not there. */
    public static void checkLink(Path path) throws IOException {
        if (Files.isSymbolicLink(path) && !Files.exists(path)
                && ANNEX_LINK.matcher(Files.readSymbolicLink(path).toString()).matches()) {
            throw refusal(path, "a git-annex link to content that is not here", GIT_ANNEX);
        }
    }
}
