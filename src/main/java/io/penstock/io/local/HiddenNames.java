// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The names that every listing of a folder of data leaves out, since other programs put them beside the data: hidden
 * files, markers of Hadoop, Spark and Delta Lake, and folders and files of operating systems. A file that is named by
 * itself is read, whatever its name.
 */
public final class HiddenNames {

    /** Spark hides all names that begin with an underscore. Here others, such as {@code _posts}, are data. */
    private static final Pattern HIDDEN = Pattern.compile("(?s)\\..*"
            + "|_SUCCESS|_FAILURE|_(?:committed|started)_.*|_(?:common_)?metadata|_temporary|_spark_metadata"
            + "|_delta_log|_delta_index|_change_data|_symlink_format_manifest|.*_\\$folder\\$"
            + "|(?i:__MACOSX|Icon\r|Thumbs\\.db|ehthumbs\\.db|desktop\\.ini|\\$RECYCLE\\.BIN|System Volume Information"
            + "|@eaDir|lost\\+found)");
    /** Of files that describe the file whose name precedes the ending. */
    private static final List<String> SIDECARS = List.of(".dvc", ".crc32c", ".crc", ".md5", ".sha1", ".sha256",
            ".sha512");

    private HiddenNames() {
    }

    /**
     * {@return whether a listing leaves out a file or folder of this name}
     *
     * @param name the name
     */
    public static boolean isHidden(String name) {
        return HIDDEN.matcher(name).matches();
    }

    /**
     * {@return whether a listing of all files leaves out a file of this name: as {@link #isHidden(String)}, or it
     * describes another one, as {@code a.txt.sha256} does {@code a.txt}}
     *
     * @param name the name
     * @param exists whether there is a file or folder of a name in the same folder
     */
    public static boolean isHidden(String name, Predicate<String> exists) {
        return isHidden(name) || SIDECARS.stream().anyMatch(ending -> name.endsWith(ending)
                && exists.test(name.substring(0, name.length() - ending.length())));
    }
}
