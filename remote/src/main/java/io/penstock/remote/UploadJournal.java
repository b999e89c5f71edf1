// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.local.RegularFile;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What a writer has begun in a bucket, in a local file: if it is killed, the next writer of the same name on this
 * machine removes it. Thread-safe.
 *
 * <pre>
 *   upload MARK KEY ID    an upload of several parts was begun
 *   create MARK KEY       an object is about to be made, where there is none; the last of them completes the store
 * </pre>
 *
 * <p>Keys and ids are percent-encoded. A line that was cut stands for a request that was never sent.
 */
final class UploadJournal {

    private final Path file;
    private final String mark;

    /**
     * A journal, whose file is created with the first line.
     *
     * @param mark what objects of this write carry
     */
    UploadJournal(Path file, String mark) {
        this.file = file;
        this.mark = mark;
    }

    void began(String key, String id) throws IOException {
        append("upload " + mark + " " + UriText.path(key) + " " + UriText.path(id));
    }

    /**
     * An object is about to be made.
     *
     * @param itsMark what it carries
     */
    void creates(String key, String itsMark) throws IOException {
        append("create " + itsMark + " " + UriText.path(key));
    }

    private synchronized void append(String line) throws IOException {
        // Not a channel: an interrupt would end it, and what was begun would be forgotten.
        try (OutputStream out = new FileOutputStream(file.toFile(), true)) {
            out.write((line + " .\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * Removes what the journal's writer left in the bucket: uploads that are not completed, and objects of a new store
     * that was not completed. Then deletes the journal.
     *
     * @throws IOException if that fails; the journal stays
     */
    static void undo(Path file, S3Uploads objects) throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        List<String[]> created = new ArrayList<>();
        for (String line : new String(RegularFile.readAllBytes(file), StandardCharsets.UTF_8).split("\n")) {
            String[] words = line.split(" ");
            if (!words[words.length - 1].equals(".")) {
                continue;
            }
            if (words[0].equals("upload")) {
                objects.abort(decoded(words[2]), decoded(words[3]));
            } else {
                created.add(words);
            }
        }
        if (!created.isEmpty() && !objects.isOf(decoded(created.getLast()[2]), created.getLast()[1])) {
            for (String[] one : created) {
                if (objects.isOf(decoded(one[2]), one[1])) {
                    objects.delete(decoded(one[2]));
                }
            }
        }
        Files.delete(file);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
