// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.error.PenstockException;
import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Sends files to a bucket and makes objects of them, in the order and with the guarantees that {@link Upload} states.
 * After a failure the journal says what to undo.
 */
final class Publication {

    /** The size that most clients use. */
    static final int PART_BYTES = 8 << 20;

    private static final int MAX_PARTS = 10_000;
    private static final System.Logger LOG = System.getLogger(Publication.class.getName());

    private final S3Uploads objects;
    private final String mark;
    private final int parallel;
    private final int partBytes;
    private final Progress progress;
    /** Guarded by the monitor. */
    private long sentBytes;
    private long totalBytes;

    Publication(S3Uploads objects, String mark, int parallel, int partBytes, Progress progress) {
        this.objects = objects;
        this.mark = mark;
        this.parallel = parallel;
        this.partBytes = partBytes;
        this.progress = progress;
    }

    /**
     * A file on its way.
     *
     * @param content its bytes, or none of a file that was sent before
     * @param id the upload of its parts; empty if its bytes go with the last request
     * @param etags its parts, by number
     * @param mark the mark of its write
     * @param before the object to replace, or none
     */
    private record Sent(String key, FileRange content, String id, Map<Integer, String> etags, String mark,
            FileInfo before) {
    }

    /** Sends a file in parts, of which no object is made yet. */
    SentFile send(String name, String key, Path file) throws IOException {
        FileRange content = new FileRange(file, 0, Files.size(file));
        Sent sent = new Sent(key, content, objects.begin(key, mark), new ConcurrentSkipListMap<>(), mark,
                FileInfo.ABSENT);
        boolean isSent = false;
        try {
            List<Callable<Sent>> parts = new ArrayList<>();
            addParts(sent, parts);
            all(parts);
            isSent = true;
        } finally {
            if (!isSent) {
                abort(sent);
            }
        }
        return new SentFile(name, sent.id, mark, List.copyOf(sent.etags.values()));
    }

    /** Ends an upload, also after an interrupt. What cannot be ended is left to a rule of the bucket. */
    private void abort(Sent one) {
        boolean interrupted = Thread.interrupted();
        try {
            objects.abort(one.key, one.id);
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> one.key + ": parts that are not used stay in the bucket: " + e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Sends the files, then makes the objects.
     *
     * @param files the local files by key, in the order in which the objects are made; the last one completes the store
     * @param sentBefore those of them that are not local, by key; they are sent already
     * @param surplus objects of the replaced store to delete
     * @param journal receives what to undo after a failure
     */
    void run(SequencedMap<String, Path> files, Map<String, SentFile> sentBefore, IfExists ifExists,
            Collection<String> surplus, UploadJournal journal) throws IOException {
        List<Callable<Sent>> begins = new ArrayList<>();
        for (Map.Entry<String, Path> file : files.entrySet()) {
            String key = file.getKey();
            SentFile known = sentBefore.get(key);
            if (known != null) {
                journal.began(key, known.uploadId());
                begins.add(() -> of(key, known, objects.before(key, ifExists)));
            } else {
                FileRange content = new FileRange(file.getValue(), 0, Files.size(file.getValue()));
                totalBytes += content.bytes();
                begins.add(() -> begin(key, content, objects.before(key, ifExists), journal));
            }
        }
        List<Sent> sent = all(begins);
        List<Callable<Sent>> parts = new ArrayList<>();
        sent.stream().filter(one -> !one.id.isEmpty() && one.etags.isEmpty()).forEach(one -> addParts(one, parts));
        all(parts);
        make(sent, surplus, journal);
    }

    private static Sent of(String key, SentFile file, FileInfo before) {
        Map<Integer, String> etags = new TreeMap<>();
        file.etags().forEach(etag -> etags.put(etags.size() + 1, etag));
        return new Sent(key, new FileRange(Path.of(""), 0, 0), file.uploadId(), etags, file.mark(), before);
    }

    private Sent begin(String key, FileRange content, FileInfo before, UploadJournal journal) throws IOException {
        String id = "";
        if (content.bytes() > partBytes) {
            id = objects.begin(key, mark);
            journal.began(key, id);
        }
        return new Sent(key, content, id, new ConcurrentSkipListMap<>(), mark, before);
    }

    private void addParts(Sent one, List<Callable<Sent>> parts) {
        long bytes = one.content.bytes();
        long step = Math.max(partBytes, Math.ceilDiv(bytes, (long) MAX_PARTS));
        for (long at = 0; at < Math.max(bytes, 1); at += step) {     // a file without bytes has one part without bytes
            FileRange part = one.content.part(at, Math.min(step, bytes - at));
            int number = (int) (at / step) + 1;
            parts.add(() -> {
                one.etags.put(number, objects.part(one.key, one.id, number, part));
                advance(part.bytes());
                return one;
            });
        }
    }

    private synchronized void advance(long bytes) {
        sentBytes += bytes;
        progress.update(sentBytes, totalBytes);
    }

    private void make(List<Sent> sent, Collection<String> surplus, UploadJournal journal) throws IOException {
        Sent last = sent.getLast();
        List<Sent> others = sent.subList(0, sent.size() - 1);
        if (surplus.isEmpty() && sent.stream().allMatch(one -> one.before.kind() == EntryKind.ABSENT)) {
            for (Sent one : sent) {
                journal.creates(one.key, one.mark);
            }
            makeInOrder(sent);
            return;
        }
        List<String> deleted = new ArrayList<>(surplus);
        boolean isOne = Stream.concat(others.stream().map(Sent::key), surplus.stream())
                .allMatch(key -> key.startsWith(last.key + "."));
        // Also those that are not there as far as is known: looking at them may have been denied.
        others.stream().filter(_ -> isOne).map(Sent::key).forEach(deleted::add);
        if (!isOne) {
            objects.delete(last.key);
        }
        try {
            all(deleted.stream().map(key -> (Callable<String>) () -> {
                objects.delete(key);
                return key;
            }).toList());
            if (isOne) {
                make(last, last.before);
                all(others.stream().map(one -> (Callable<Sent>) () -> make(one, FileInfo.ABSENT)).toList());
            } else {
                makeInOrder(others);
                make(last, FileInfo.ABSENT);
            }
        } catch (IOException e) {
            throw isOne && deleted.isEmpty() ? e : new IOException(e.getMessage() + (isOne
                    ? " (sidecars of an old object are removed)"
                    : " (the old store is removed, and the new one is not complete: write it again)"), e);
        }
    }

    /** Makes the objects, those with names of one length at a time, and the last one alone. */
    private void makeInOrder(List<Sent> sent) throws IOException {
        List<Callable<Sent>> group = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            Sent one = sent.get(i);
            group.add(() -> make(one, one.before));
            int next = Math.min(i + 1, sent.size() - 1);
            if (next >= sent.size() - 1 || sent.get(next).key.length() != one.key.length()) {
                all(group);
                group.clear();
            }
        }
    }

    private Sent make(Sent one, FileInfo before) throws IOException {
        if (one.id.isEmpty()) {
            objects.put(one.key, one.content, one.mark, before);
            advance(one.content.bytes());
        } else {
            objects.complete(one.key, one.id, one.etags.values(), one.mark, before);
        }
        return one;
    }

    /**
     * Runs tasks, some at a time, and returns their results in order. After one failed no other is started, and those
     * under way end: what a server did for a request whose answer nobody read could not be undone.
     */
    private <T> List<T> all(List<Callable<T>> tasks) throws IOException {
        List<T> results = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(Math.clamp(tasks.size(), 1, parallel),
                Thread.ofVirtual().name("penstock-upload-", 0).factory())) {
            List<Future<T>> running = tasks.stream().map(threads::submit).toList();
            try {
                for (Future<T> one : running) {
                    results.add(one.get());
                }
            } catch (ExecutionException e) {
                running.forEach(one -> one.cancel(false));
                if (e.getCause() instanceof IOException failed) {
                    throw failed;
                }
                if (e.getCause() instanceof PenstockException bad) {
                    throw bad;
                }
                throw new IllegalStateException(e.getCause());
            } catch (InterruptedException _) {
                threads.shutdownNow();
                throw Retries.interrupted();
            }
        }
        return results;
    }
}
