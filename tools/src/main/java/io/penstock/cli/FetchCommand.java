// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.error.PenstockException;
import io.penstock.io.Advice;
import io.penstock.io.FileInfo;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.json.Json;
import io.penstock.remote.RemoteFiles;
import io.penstock.text.BraceExpansion;
import io.penstock.text.ByteText;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "fetch",
        description = "Fetches remote files into the cache.",
        footer = {"", "Examples: penstock fetch s3://bucket/train-{000000..000099}.tar --cache /cache",
            "          penstock fetch s3://bucket/tokens/ https://example.org/data/labels.npy",
            "", "A folder stands for the files in it, without those of its subfolders. What is in the cache is checked,"
                + " not fetched again: run it again after an interruption."})
final class FetchCommand implements Callable<Integer> {

    /** Files at a time; each fetches several blocks at a time. */
    private static final int FILES = 16;
    private static final long STEP_BYTES = 8 << 20;
    private static final long AHEAD_BYTES = 64 << 20;

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "URI",
            description = "Files or folders: s3://BUCKET/KEY, https://HOST/PATH or http://HOST/PATH; braces stand for"
                    + " several.")
    private List<String> names;

    @Mixin
    private RemoteOptions remote;

    private record Wanted(Location file, long bytes) {
    }

    @Override
    public Integer call() throws IOException {
        long start = System.nanoTime();
        List<Wanted> wanted = wanted();
        long total = wanted.stream().mapToLong(Wanted::bytes).sum();
        long limit = remote.files().cacheBytes();
        if (total > limit) {
            throw new UsageException("the files have " + ByteText.of(total)
                    + ", more than the cache may hold: " + ByteText.of(limit) + "; raise --cache-size");
        }
        try (ProgressBar bar = report.progressBar("fetch", "B");
                ExecutorService threads = Executors.newFixedThreadPool(Math.clamp(wanted.size(), 1, FILES),
                        Thread.ofVirtual().factory())) {
            AtomicLong done = new AtomicLong();
            List<Future<?>> running = new ArrayList<>();
            wanted.forEach(one -> running.add(threads.submit(() -> {
                fetch(one, done);
                return null;
            })));
            try {
                for (Future<?> one : running) {
                    await(one, () -> bar.update("fetch", done.get(), total));
                }
            } catch (IOException | RuntimeException e) {
                threads.shutdownNow();
                throw e;
            }
        }
        long nanos = System.nanoTime() - start;
        report.print(report.isJson() ? Json.members("files", wanted.size(), "bytes", total, "seconds", nanos / 1e9)
                : NumberText.count(wanted.size(), "file") + ", " + ByteText.of(total) + " in the cache "
                        + remote.settings().cacheFolder() + " after " + TimeText.of(nanos / 1e6) + "\n");
        return ExitCode.SUCCESS;
    }

    private List<Wanted> wanted() throws IOException {
        List<Wanted> wanted = new ArrayList<>();
        for (String name : names) {
            if (!RemoteFiles.isRemote(name)) {
                throw new UsageException(name + ": a local path, expected s3://, https:// or http://");
            }
            for (String one : UsageException.valid(() -> BraceExpansion.expand(name))) {
                Location location = remote.locate(one);
                FileInfo info = location.info();
                switch (info.kind()) {
                    case FILE -> wanted.add(wanted(location));
                    case FOLDER -> {
                        for (Location file : location.files(_ -> true)) {
                            wanted.add(wanted(file));
                        }
                    }
                    default -> throw new NoSuchFileException(location.toString());
                }
            }
        }
        return wanted;
    }

    private static Wanted wanted(Location file) throws IOException {
        FileInfo info = file.infoOfNamed();
        if (info.kind() != FileInfo.EntryKind.FILE) {
            throw new NoSuchFileException(file.toString());
        }
        if (info.version().equals(FileInfo.UNKNOWN_VERSION)) {
            throw new BadInputException(file + ": its server says neither its version (ETag) nor when it changed"
                    + " (Last-Modified): the cache keeps nothing of it for later runs; download it instead");
        }
        return new Wanted(file, info.byteSize());
    }

    private static void fetch(Wanted wanted, AtomicLong done) throws IOException {
        try (MappedFile file = wanted.file.open()) {
            for (long at = 0; at < file.byteSize(); at += STEP_BYTES) {
                long bytes = Math.min(STEP_BYTES, file.byteSize() - at);
                file.advise(Advice.WILL_NEED, at, Math.min(AHEAD_BYTES, file.byteSize() - at));
                file.advise(Advice.POPULATE_READ, at, bytes);
                done.addAndGet(bytes);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void await(Future<?> future, Runnable progress) throws IOException {
        try {
            while (future.state() == Future.State.RUNNING) {
                Thread.sleep(50);
                progress.run();
            }
            future.get();
            progress.run();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            if (e.getCause() instanceof PenstockException bad) {
                throw bad;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }
}
