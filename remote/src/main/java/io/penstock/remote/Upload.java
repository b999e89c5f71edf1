// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.Location;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.WriterLock;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A store or file for a bucket: it is written on the local disk, by any writer, and uploaded when it is whole.
 *
 * {@snippet :
 * RemoteFiles remote = RemoteFiles.of(RemoteSettings.fromEnvironment());
 * try (Upload upload = remote.upload("s3://bucket/corpus", IfExists.FAIL)) {
 *     new TokenizeJob(Tokenizer.of("gpt2"), List.of(Path.of("text")), upload.path()).run();
 *     upload.publish();
 * }
 * }
 *
 * <p>{@link #publish} sends large files in parts, of which nothing is visible. Then it makes the objects, sidecars
 * first and what completes the store last, each by one conditional request: if another writer was faster, it fails.
 * An object is the old one or the new one, whatever fails or is killed. Without {@code publish}, nothing is written.
 *
 * <ul>
 * <li>A new store: if its writer fails, nothing stays in the bucket. If it is killed, the next upload of this name on
 *     this machine removes what is left: uploads that are not completed, and objects of a store that is not.
 * <li>Replacing a store of one object and its sidecars is atomic. Old sidecars are deleted before.
 * <li>Replacing a store of several objects: what completes it is deleted before the others are replaced. For these
 *     requests, and if the writer is killed between them, there is no store; it is never a mixture.
 * </ul>
 *
 * <p>For one thread.
 */
public final class Upload implements AutoCloseable {

    /** The number in the name of a set of shards. */
    private static final Pattern NUMBER = Pattern.compile("%(?:0[1-9])?d|\\{0{1,9}}");
    /** Longest names first. */
    private static final Comparator<Path> ORDER = Comparator
            .comparingInt((Path path) -> -path.getFileName().toString().length()).thenComparing(path -> path);

    private final Location target;
    private final RemoteSource source;
    private final S3Uploads objects;
    private final IfExists ifExists;
    private final int parallel;
    private final int partBytes;
    private final WriterLock lock;
    private final Path files;
    private final Path journalFile;
    private final String mark = UUID.randomUUID().toString();
    /** By their keys. */
    private final Map<String, SentFile> adopted = new HashMap<>();
    private Progress progress = Progress.NONE;
    private boolean closed;

    private Upload(Location target, RemoteSource source, IfExists ifExists, int parallel, int partBytes, Path folder)
            throws IOException {
        this.target = target;
        this.source = source;
        this.objects = source.uploads();
        this.ifExists = ifExists;
        this.parallel = parallel;
        this.partBytes = partBytes;
        this.files = folder.resolve("files");
        this.journalFile = folder.resolve("journal");
        Files.createDirectories(folder.getParent());
        this.lock = WriterLock.take(target, folder);
    }

    /**
     * Begins an upload.
     *
     * @param folder holds the local files; this upload's own
     * @throws FileAlreadyExistsException if there is such an object and it is not to be replaced
     */
    static Upload open(Location target, RemoteSource source, IfExists ifExists, int parallel, int partBytes,
            Path folder) throws IOException {
        Upload upload = new Upload(target, source, ifExists, parallel, partBytes, folder);
        try {
            UploadJournal.undo(upload.journalFile, upload.objects);
            Folder.delete(upload.files);
            Files.createDirectory(upload.files);
            if (ifExists == IfExists.FAIL) {
                upload.requireAbsent();
            }
            upload.requireWritable();
            return upload;
        } catch (IOException | RuntimeException e) {
            upload.close();
            throw e;
        }
    }

    private String folderKey() {
        return target.path().substring(0, target.path().lastIndexOf('/') + 1);
    }

    /** Begins an upload and ends it, so that missing rights are known before the work. */
    private void requireWritable() throws IOException {
        String key = target.path() + (target.name().isEmpty() ? "penstock" : "");
        new UploadJournal(journalFile, mark).began(key, objects.begin(key, mark));
        UploadJournal.undo(journalFile, objects);
    }

    private void requireAbsent() throws IOException {
        if (target.name().isEmpty() || NUMBER.matcher(target.name()).find()) {
            for (String key : shards()) {
                throw objects.exists(key);
            }
        } else {
            objects.before(target.path(), ifExists);
        }
    }

    /** The keys that there are of a set of shards, or of files in the folder. */
    private Set<String> shards() throws IOException {
        String[] around = NUMBER.split(target.name(), 2);
        Pattern names = around.length < 2 ? Pattern.compile(".*") : Pattern.compile(Pattern.quote(around[0]) + "\\d+"
                + Pattern.quote(around[1]) + "(\\.[a-z0-9-]+)?");
        Set<String> keys = new HashSet<>();
        try {
            source.files(folderKey(), file -> names.matcher(file).matches()).forEach(file ->
                    keys.add(folderKey() + file));
        } catch (AccessDeniedException _) {
            // Without the right to list, the conditions of the last requests remain.
        }
        return keys;
    }

    /** {@return where to write: the local path of the store, the file, or for a name that ends in / the folder} */
    public Path path() {
        return target.name().isEmpty() ? files : files.resolve(target.name());
    }

    /**
     * {@return where a file is published}
     *
     * @param file a file in the folder of {@link #path()}
     */
    public Location published(Path file) {
        return new Location(source, folderKey() + files.relativize(file).toString().replace('\\', '/'));
    }

    /**
     * Fails if there is such an object, unless it is to be replaced. Call it before a long job, for stores whose files
     * have other names than the store.
     *
     * @param endings what follows the target's name, for example {@code .idx}
     * @throws FileAlreadyExistsException if there is one
     * @throws IOException if the server fails
     */
    public void requireAbsent(String... endings) throws IOException {
        for (String ending : endings) {
            objects.before(target.path() + ending, ifExists);
        }
    }

    /**
     * {@return this upload, which says how much is sent}
     *
     * @param listener receives the bytes that are sent; from other threads, one at a time
     */
    public Upload progress(Progress listener) {
        progress = listener;
        return this;
    }

    /**
     * Takes a file that was sent before, perhaps by another machine: {@link #publish()} makes its object together with
     * those of the local files. If that fails, what was sent is removed.
     *
     * @param sent the file
     * @throws IllegalArgumentException if it is not in the folder of this upload's target
     */
    public void adopt(SentFile sent) {
        String key = source.key(sent.name());
        if (!key.startsWith(folderKey())) {
            throw new IllegalArgumentException(sent.name() + ": found in another folder, expected that of " + target);
        }
        adopted.put(key, sent);
    }

    /**
     * Uploads all files in the folder of {@link #path()}. The shortest name completes the store, and of several the
     * last one: {@code corpus.idx} comes after {@code corpus.bin}, and that after {@code corpus.bin.crc32c}.
     *
     * @return the objects, in the order of their creation
     * @throws FileAlreadyExistsException if there is one of them, and it is not to be replaced
     * @throws IOException if that fails; names the object. Nothing has changed unless the message says so
     */
    public List<Location> publish() throws IOException {
        return publish(written());
    }

    /**
     * Uploads all files in the folder of {@link #path()}.
     *
     * @param last the name of the file that completes what is published, for example that of a checkpoint's state
     * @return the objects, in the order of their creation
     * @throws IOException as {@link #publish()}
     */
    public List<Location> publish(String last) throws IOException {
        List<Path> written = new ArrayList<>(written());
        Path completes = files.resolve(last);
        if (!written.remove(completes)) {
            throw new IllegalStateException(target + ": found no file " + last + " to publish");
        }
        written.add(completes);
        return publish(written);
    }

    /** The files to publish, longest names first; those that were sent before are not there. */
    private List<Path> written() throws IOException {
        List<Path> inFolder;
        try (Stream<Path> all = Files.walk(files)) {
            inFolder = all.filter(path -> !path.equals(files)).toList();
        }
        for (Path path : inFolder) {
            String name = path.getFileName().toString();
            if (name.startsWith(".") && (target.name().isEmpty() || !name.startsWith(target.name()))) {
                throw new IllegalStateException(target + ": found " + name + ", which a writer has not"
                        + " finished; close it before publishing");
            }
        }
        List<Path> written = Stream.concat(inFolder.stream().filter(Files::isRegularFile), adopted.keySet().stream()
                .map(key -> files.resolve(key.substring(folderKey().length())))).sorted(ORDER).toList();
        if (written.isEmpty()) {
            throw new IllegalStateException(target + ": nothing was written to " + path());
        }
        return written;
    }

    private List<Location> publish(List<Path> written) throws IOException {
        SequencedMap<String, Path> byKey = new LinkedHashMap<>();
        written.forEach(path -> byKey.put(published(path).path(), path));
        try {
            UploadJournal.undo(journalFile, objects);       // of a call that failed, and could not undo what it did
            Publication publication = new Publication(objects, mark, parallel, partBytes, progress);
            Set<String> surplus = ifExists == IfExists.REPLACE && NUMBER.matcher(target.name()).find() ? shards()
                    : new HashSet<>();
            surplus.removeAll(byKey.keySet());
            publication.run(byKey, adopted, ifExists, surplus, new UploadJournal(journalFile, mark));
            Files.deleteIfExists(journalFile);
        } catch (IOException | RuntimeException e) {
            undo(e);
            throw e;
        } finally {
            source.forget();
        }
        return byKey.keySet().stream().map(key -> new Location(source, key)).toList();
    }

    /** Removes what is in the bucket after a failure, also after an interrupt. */
    private void undo(Exception failure) {
        boolean interrupted = Thread.interrupted();
        try {
            UploadJournal.undo(journalFile, objects);
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Deletes the local files. Calling it again does nothing. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            Folder.delete(files);
        } finally {
            lock.release();
        }
    }
}
