// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of checking a store in every available way.
 *
 * <p>Structure first: opening the store reads every header and index. Then every checksum of each file: its
 * {@linkplain BlockChecksums block checksums}, the SHA-256 in a listing next to it, those of its format. Compressed
 * data is decoded, which runs the codec's checks. Blocks are read in parallel, in large pieces, at disk speed. A store
 * that is replaced meanwhile is checked again.
 *
 * @param path the checked path
 * @param kind the store's format; null if it could not be opened, or is not a store but files with checksums
 * @param files the files, each with its checks
 * @param faults the faults; a run of bad blocks is one fault
 */
public record Verification(Location path, @Nullable String kind, List<CheckedFile> files, List<Fault> faults) {

    /** Retries for a store that is replaced while it is checked. */
    private static final int REPLACEMENTS = 1000;

    /** Copies the lists of files and faults. */
    public Verification {
        files = List.copyOf(files);
        faults = List.copyOf(faults);
    }

    /**
     * Checks a store, or any file with checksums.
     *
     * @param path a file or a folder of a store, or of files with checksums
     * @param options how the store is opened
     * @param threads reading threads, at least 1
     * @param progress receives the bytes read, on the calling thread
     * @return the checked files and the faults; faults do not throw
     * @throws NoSuchFileException if the file does not exist
     * @throws IOException if a file cannot be read for a reason other than damage
     * @throws InterruptedException if the thread is interrupted; the check then stops
     */
    public static Verification run(Location path, OpenOptions options, int threads, Progress progress)
            throws IOException, InterruptedException {
        if (threads < 1) {
            throw new IllegalArgumentException("threads: " + threads + ", expected at least 1");
        }
        for (int i = 0; ; i++) {
            Verifier verifier = new Verifier(path, options, threads, progress);
            try {
                Verification found = verifier.run();
                if (found.isGood() || i == REPLACEMENTS || !verifier.isReplaced()) {
                    return found;
                }
            } catch (IOException | PenstockException e) {
                if (i == REPLACEMENTS || !verifier.isReplaced()) {
                    throw e;
                }
            }
        }
    }

    /** {@return whether there is no fault} */
    public boolean isGood() {
        return faults.isEmpty();
    }

    /** {@return the total size of all files, in bytes} */
    public long bytes() {
        return files.stream().mapToLong(CheckedFile::bytes).sum();
    }

    /** {@return the result in JSON form, fields in order} */
    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        map.put("path", path.toString());
        if (kind != null) {
            map.put("kind", kind);
        }
        map.put("good", isGood());
        map.put("bytes", bytes());
        map.put("files", files.stream().map(CheckedFile::toMap).toList());
        map.put("faults", faults.stream().map(Fault::toMap).toList());
        return map;
    }

    /**
     * A checked file.
     *
     * @param file the file
     * @param bytes its size
     * @param checks the checks that covered it: any of {@code structure}, {@code crc32c}, {@code sha256}, {@code
     *     content} and the format's own checksums, in that order
     */
    public record CheckedFile(Location file, long bytes, List<String> checks) {

        /** Copies the names of the checks. */
        public CheckedFile {
            checks = List.copyOf(checks);
        }

        /** {@return whether any checksum covers the content; a valid structure says little about it} */
        public boolean hasChecksum() {
            return checks.stream().anyMatch(check -> !check.equals("structure"));
        }

        /** {@return the file in JSON form, fields in order} */
        public Map<String, @Nullable Object> toMap() {
            return Json.members("file", file.toString(), "bytes", bytes, "checks", checks);
        }
    }

    /**
     * A fault in a file.
     *
     * @param file the file
     * @param check the check that found it: {@code structure}, {@code crc32c}, {@code sha256}, {@code content}, or a
     *     format's own checksum
     * @param firstBlock the first bad block, in blocks of the check; -1 if unknown
     * @param firstByte the first bad byte; -1 if unknown
     * @param endByte the byte after the last bad one; -1 if unknown
     * @param message one line that names the file, what was found and what was expected
     */
    public record Fault(Location file, String check, long firstBlock, long firstByte, long endByte, String message) {

        /**
         * Creates a fault of a whole file.
         *
         * @param file the file
         * @param check the check that found it
         * @param message what was found and what was expected
         */
        public Fault(Location file, String check, String message) {
            this(file, check, -1, -1, -1, message);
        }

        /** {@return the fault in JSON form: the known fields, in order} */
        public Map<String, @Nullable Object> toMap() {
            Map<String, @Nullable Object> map = Json.members("file", file.toString(), "check", check);
            if (firstBlock >= 0) {
                map.put("first_block", firstBlock);
            }
            if (firstByte >= 0) {
                map.put("first_byte", firstByte);
                map.put("end_byte", endByte);
            }
            map.put("message", message);
            return map;
        }
    }
}
