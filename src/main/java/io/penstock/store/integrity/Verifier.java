// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.publish.Generation;
import io.penstock.os.PathBytes;
import io.penstock.store.Inspection;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.StoreFormats;
import io.penstock.store.TensorStore;
import io.penstock.store.integrity.Verification.CheckedFile;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One {@link Verification} run. For one thread, which starts others. */
final class Verifier {

    private static final long PIECE_BYTES = 64 << 20;
    private static final long PROGRESS_MILLIS = 100;

    private final Location path;
    private final OpenOptions options;
    private final int threads;
    private final Progress progress;
    private final Map<Location, List<String>> checksOf = new LinkedHashMap<>();
    private final Map<Location, Map<String, String>> listings = new HashMap<>();
    private final List<Fault> faults = new ArrayList<>();
    private final List<BlockFaults> blockFaults = new ArrayList<>();
    private final List<Callable<@Nullable Fault>> tasks = new ArrayList<>();
    private final LongAdder readBytes = new LongAdder();
    private long bytesToRead;
    private @Nullable String kind;
    private List<Location> opened = List.of();
    private @Nullable Generation generation;
    /** Why the store failed to open; null if it opened. */
    private @Nullable Exception refusal;

    Verifier(Location path, OpenOptions options, int threads, Progress progress) {
        this.path = path;
        this.options = options;
        this.threads = threads;
        this.progress = progress;
    }

    Verification run() throws IOException, InterruptedException {
        try (Store store = open()) {
            planChecksums();
            if (store == null) {
                checksOf.values().removeIf(List::isEmpty);
                addRefusal();
            }
            readAll();
            if (store != null) {
                checkContent(store);
            }
        }
        List<CheckedFile> files = new ArrayList<>();
        for (Map.Entry<Location, List<String>> each : checksOf.entrySet()) {
            files.add(new CheckedFile(each.getKey(), each.getKey().byteSize(), each.getValue()));
        }
        return new Verification(path, kind, files, faults);
    }

    /**
     * Opens the store and lists its files. Returns null if it does not open, and lists the existing files of that name.
     */
    private @Nullable Store open() throws IOException {
        refusePlaceholder();
        Store store = null;
        try {
            store = Store.open(path, options);
            Inspection inspection = Inspection.of(path, store, Inspection.Depth.STRUCTURE, Progress.NONE);
            kind = inspection.kind();
            opened = inspection.files();
            generation = Generation.of(opened);
            for (Location file : inspection.files()) {
                checksOf.computeIfAbsent(file, _ -> new ArrayList<>()).add("structure");
                if (file.isFolder()) {
                    addChecksummedFiles(file);
                }
            }
            return store;
        } catch (IOException | PenstockException e) {
            if (store != null) {
                store.close();
            }
            if (e instanceof NoSuchFileException && !path.exists()) {
                throw e;
            }
            refusal = e;
            checksOf.clear();
            for (Location file : filesOf(path)) {
                checksOf.put(file, new ArrayList<>());
            }
            return null;
        }
    }

    /** Fails if the path is a placeholder or a FIFO: nothing is damaged then, and there is nothing to verify. */
    private void refusePlaceholder() {
        try {
            if (path.exists() && !path.isFolder()) {
                path.openChannel().close();
            }
        } catch (IOException _) {
            // Whoever opens the store says so.
        }
    }

    /** Tells whether files of the store were replaced since open; the result then mixes two stores. */
    boolean isReplaced() throws IOException {
        return generation != null && !Generation.of(opened).equals(generation);
    }

    /** Adds those files of a folder, which may have millions, that have checksums of their own. */
    private void addChecksummedFiles(Location folder) throws IOException {
        Path local = folder.local().orElse(null);
        if (local == null) {
            return;
        }
        try (Stream<Path> all = Files.walk(local)) {
            // No listing of checksums has a name that is no text.
            Stream<Path> files = all.filter(PathBytes::isText).filter(Files::isRegularFile).sorted();
            for (Path path : (Iterable<Path>) files::iterator) {
                Location file = Location.of(path);
                if (BlockChecksums.locationFor(file).exists() || Sha256Listing.of(file, listings) != null) {
                    checksOf.computeIfAbsent(file, _ -> new ArrayList<>());
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Adds the open failure, unless the path is not a store but a file with checksums. */
    private void addRefusal() throws IOException {
        boolean isStore = isStore();
        if (isStore || checksOf.isEmpty()) {
            faults.add(new Fault(path, "structure", String.valueOf(Objects.requireNonNull(refusal).getMessage())));
        }
        if (isStore && path.isFile()) {
            checksOf.computeIfAbsent(path, _ -> new ArrayList<>()).addFirst("structure");
        }
    }

    /** Tells whether the path claims to be a store; one that does not open is faulty. */
    private boolean isStore() throws IOException {
        if (options.format() != null) {
            return true;
        }
        try {
            StoreFormats.recognize(path);
            return true;
        } catch (MalformedStoreException _) {
            return false;
        }
    }

    private static List<Location> filesOf(Location path) throws IOException {
        return switch (path.info().kind()) {
            case FOLDER -> path.files(_ -> true);
            case FILE -> List.of(path);
            default -> List.of();
        };
    }

    private void planChecksums() throws IOException {
        for (Map.Entry<Location, List<String>> each : checksOf.entrySet()) {
            Location file = each.getKey();
            planBlocks(file, each.getValue());
            Sha256Listing listing = Sha256Listing.of(file, listings);
            if (listing != null) {
                each.getValue().add("sha256");
                bytesToRead += file.byteSize();
                tasks.add(() -> listing.check(readBytes::add));
            }
        }
    }

    private void planBlocks(Location file, List<String> checks) throws IOException {
        BlockChecksums checksums;
        try {
            checksums = BlockChecksums.read(file);
        } catch (MalformedStoreException e) {
            checks.add("crc32c");
            faults.add(new Fault(BlockChecksums.locationFor(file), "crc32c", String.valueOf(e.getMessage())));
            return;
        }
        if (checksums == null) {
            return;
        }
        checks.add("crc32c");
        long size = file.byteSize();
        try {
            checksums.checkSize(size);
        } catch (MalformedStoreException e) {
            faults.add(new Fault(file, "crc32c", String.valueOf(e.getMessage())));
        }
        var bad = new BlockFaults(checksums);
        blockFaults.add(bad);
        long whole = size >= checksums.fileBytes() ? checksums.blocks() : size / checksums.blockBytes();
        bytesToRead += Math.min(size, checksums.fileBytes());
        long step = Math.max(1, PIECE_BYTES / checksums.blockBytes());
        for (long first = 0; first < whole; first += step) {
            long from = first;
            long to = Math.min(whole, first + step);
            tasks.add(() -> checkBlocks(checksums, from, to, bad));
        }
    }

    private @Nullable Fault checkBlocks(BlockChecksums checksums, long from, long to, BlockFaults bad) {
        try (BlockReader reader = BlockReader.open(checksums.file(), checksums.blockBytes())) {
            reader.forEach(from, to, (block, crc) -> {
                readBytes.add(checksums.blockBytes());
                try {
                    checksums.check(block, crc);
                } catch (MalformedStoreException e) {
                    bad.add(block, String.valueOf(e.getMessage()));
                }
            });
            return null;
        } catch (IOException | PenstockException e) {
            return new Fault(checksums.file(), "crc32c", from, from * checksums.blockBytes(),
                    Math.min(to * checksums.blockBytes(), checksums.fileBytes()), unreadable(checksums.file(), e));
        }
    }

    private static String unreadable(Location file, Exception e) {
        String said = String.valueOf(e.getMessage());
        return said.contains(file.toString()) ? said : file + ": cannot be read: " + said;
    }

    private void readAll() throws IOException, InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads,
                Thread.ofPlatform().name("penstock-verify-", 0).daemon().factory());
        try {
            List<Future<@Nullable Fault>> futures = new ArrayList<>();
            for (Callable<@Nullable Fault> task : tasks) {
                futures.add(pool.submit(task));
            }
            for (Future<@Nullable Fault> future : futures) {
                Fault fault = await(future);
                if (fault != null) {
                    faults.add(fault);
                }
            }
        } finally {
            pool.shutdownNow();
            pool.close();
        }
        blockFaults.forEach(bad -> faults.addAll(bad.faults()));
    }

    private @Nullable Fault await(Future<@Nullable Fault> future) throws IOException, InterruptedException {
        while (true) {
            try {
                return future.get(PROGRESS_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException _) {
                progress.update(Math.min(readBytes.sum(), bytesToRead), bytesToRead);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof IOException unread) {
                    throw unread;
                }
                if (e.getCause() instanceof PenstockException bad) {
                    throw bad;
                }
                throw new IllegalStateException(e.getCause());
            }
        }
    }

    /** Checks the format's own checksums, and decodes what reading decodes. */
    private void checkContent(Store store) throws IOException {
        if (store instanceof Verifiable own && own.checksum() != null) {
            Set<Location> uncovered = own.uncovered();
            checksOf.forEach((file, checks) -> {
                if (!uncovered.contains(file)) {
                    checks.add(own.checksum());
                }
            });
            own.verify(faults::add, progress);
        }
        if (decodes(store)) {
            checksOf.values().forEach(checks -> checks.add("content"));
            try {
                Inspection.of(path, store, Inspection.Depth.CONTENT, progress);
            } catch (IOException | UncheckedIOException | PenstockException e) {
                faults.add(new Fault(path, "content", String.valueOf(e.getMessage())));
            }
        }
    }

    private static boolean decodes(Store store) {
        return switch (store) {
            case RecordStore _ -> true;
            case TensorStore tensors ->
                    IntStream.range(0, tensors.tensors().size()).anyMatch(tensors::isConverted);
            default -> false;
        };
    }
}
