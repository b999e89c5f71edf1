package io.penstock.store.integrity;

import io.penstock.io.Location;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a check of a store by all that can be checked has found.
 *
 * <p>First the structure: the store is opened, which reads every header and index. Then, of each of its files, every
 * checksum there is: its {@linkplain BlockChecksums blocks'}, the SHA-256 in a listing beside it, those of its format.
 * What a store keeps compressed is decoded, which checks what the codec checks. Blocks are read in parallel, in large
 * pieces, as fast as the disk gives them. A store that somebody replaces meanwhile is checked again.
 *
 * @param path what was checked
 * @param kind the store's format; null if it could not be opened, or is no store but files that have checksums
 * @param files its files, and by what each was checked
 * @param faults what is wrong; a run of bad blocks is one fault
 */
public record Verification(Location path, String kind, List<CheckedFile> files, List<Fault> faults) {

    /** A store that is replaced while it is checked is checked again, so often. */
    private static final int REPLACEMENTS = 1000;

    /** Copies. */
    public Verification {
        files = List.copyOf(files);
        faults = List.copyOf(faults);
    }

    /**
     * Checks a store, or a file of any kind that has checksums.
     *
     * @param path a file or a folder of a store; or a file or a folder of files that have checksums
     * @param options how the store is opened
     * @param threads how many read at a time, at least 1
     * @param progress told the bytes that are read, by the calling thread
     * @return what was checked and what is wrong; faults are no exceptions
     * @throws NoSuchFileException if there is no such file
     * @throws IOException if a file cannot be read for another reason than that it is damaged
     * @throws InterruptedException if the thread is interrupted; the check is then given up
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
            } catch (IOException e) {
                if (i == REPLACEMENTS || !verifier.isReplaced()) {
                    throw e;
                }
            }
        }
    }

    /**
     * Whether nothing is wrong.
     *
     * @return true if there is no fault
     */
    public boolean isGood() {
        return faults.isEmpty();
    }

    /**
     * Bytes of all files together.
     *
     * @return the sum of their sizes
     */
    public long bytes() {
        return files.stream().mapToLong(CheckedFile::bytes).sum();
    }

    /**
     * The result as JSON writers take it.
     *
     * @return its fields, in order
     */
    public Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
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
}
