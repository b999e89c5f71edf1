// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.FetchAhead;
import io.penstock.os.Posix;
import io.penstock.text.ByteText;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * A folder on a local disk that holds blocks of remote objects, for all processes of a node. Thread-safe.
 *
 * <p>The folder is {@code penstock-cache} (a marker: a folder without it is never changed) and
 * {@code objects/NAME/VERSION/}, both hashed, for each version of an object ({@link ObjectFolder}). Objects whose
 * server names no version are in {@code objects/NAME.run/} and serve one run; they are removed when a cache is next
 * opened.
 *
 * <p>If a block would exceed the limit, others are dropped, but not those that an open file keeps: first those that no
 * plan of a living process reads, then those that are read last ({@link CachePlan}); of equal ones, those that were
 * used least recently. The limit holds for all processes together: each looks at what the others have stored before it
 * has stored an eighth of the room that it saw last, so that eight processes never exceed it.
 */
public final class BlockCache {

    /** Blocks are powers of 2 between these. */
    public static final int MIN_BLOCK_BYTES = 4096;
    /** The largest block. */
    public static final int MAX_BLOCK_BYTES = 1 << 30;
    /** A cache that holds fewer blocks would only move them in and out. */
    public static final int MIN_BLOCKS = 16;

    private static final System.Logger LOG = System.getLogger(BlockCache.class.getName());
    /** Ends the folder's name of an object without a version. */
    private static final String OF_RUN = ".run";
    private static final String MARKER = "penstock-cache";
    private static final String MARKER_TEXT = "Blocks of remote objects, version 1. See 'penstock cache --help'.\n";
    private static final Set<String> SHARED_FILE_SYSTEMS = Set.of("nfs", "nfs4", "cifs", "smb2", "smb3", "afs",
            "fuse.sshfs", "9p");
    private static final Duration LEFTOVER_AGE = Duration.ofHours(1);

    private final Path folder;
    private final int blockBytes;
    private final int readAheadBlocks;
    private final Executor threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("penstock-fetch-", 0).factory());
    private final AtomicInteger running = new AtomicInteger();
    /** The objects that are to fetch more ahead than may be fetched at a time. */
    private final ConcurrentLinkedDeque<CachedObject> waiting = new ConcurrentLinkedDeque<>();
    private final Eviction eviction;
    /** A moving mean of how long fetches take. */
    private final AtomicLong fetchNanos = new AtomicLong();
    private final LongAdder fetchedBytes = new LongAdder();
    private final LongAdder fetchedBlocks = new LongAdder();
    private final LongAdder requests = new LongAdder();

    private BlockCache(Path folder, long limitBytes, int blockBytes, int readAheadBlocks) {
        this.folder = folder;
        this.blockBytes = blockBytes;
        this.readAheadBlocks = readAheadBlocks;
        this.eviction = new Eviction(this, limitBytes);
    }

    /**
     * Opens a cache; creates its folder if it is missing.
     *
     * @param folder the folder, on a local disk
     * @param limitBytes the most that it may hold, at least {@value #MIN_BLOCKS} blocks; 0 for half of the disk's space
     *     that is free or the cache's
     * @param blockBytes the size of a block, a power of 2
     * @param readAheadBlocks the most blocks that are fetched at a time before anybody waits for them
     * @throws IOException if it cannot be created, is not on a local disk, or the folder has other files
     */
    public static BlockCache open(Path folder, long limitBytes, int blockBytes, int readAheadBlocks)
            throws IOException {
        if (Integer.bitCount(blockBytes) != 1 || blockBytes < MIN_BLOCK_BYTES || blockBytes > MAX_BLOCK_BYTES) {
            throw new IllegalArgumentException("blocks of " + blockBytes + " bytes, expected a power of 2 from "
                    + MIN_BLOCK_BYTES + " to " + MAX_BLOCK_BYTES);
        }
        if (limitBytes != 0) {
            checkLimit(limitBytes, blockBytes);
        }
        create(folder);
        BlockCache cache = new BlockCache(folder, limitBytes == 0 ? halfOfDisk(folder) : limitBytes, blockBytes,
                readAheadBlocks);
        checkLimit(cache.limitBytes(), blockBytes);
        cache.removeOtherRuns();
        return cache;
    }

    private static void checkLimit(long limitBytes, int blockBytes) {
        if (limitBytes < (long) MIN_BLOCKS * blockBytes) {
            throw new IllegalArgumentException("a cache of " + limitBytes + " bytes, expected at least " + MIN_BLOCKS
                    + " blocks of " + blockBytes);
        }
    }

    private static long halfOfDisk(Path folder) throws IOException {
        long bytes = Files.getFileStore(folder).getUsableSpace();
        for (Path version : existing(folder).versionFolders()) {
            try (BlockTable table = BlockTable.read(version.resolve(BlockTable.NAME))) {
                bytes += table.presentBytes();
            } catch (NoSuchFileException _) {
                // removed
            }
        }
        return bytes / 2;
    }

    /** Opens an existing cache to look at it; throws {@link NoSuchFileException} if there is none. */
    public static BlockCache existing(Path folder) throws IOException {
        if (!Files.isRegularFile(folder.resolve(MARKER))) {
            throw new NoSuchFileException(folder.toString(), null, "no cache");
        }
        return new BlockCache(folder, Long.MAX_VALUE, MIN_BLOCK_BYTES, 0);
    }

    private static void create(Path folder) throws IOException {
        if (Files.isRegularFile(folder.resolve(MARKER))) {
            return;
        }
        Files.createDirectories(folder);
        String type = Files.getFileStore(folder).type().toLowerCase(Locale.ROOT);
        if (SHARED_FILE_SYSTEMS.contains(type)) {
            throw new FileSystemException(folder.toString(), null, "a folder on " + type
                    + ", expected one on a local disk: the processes of a node share the cache through memory");
        }
        try (Stream<Path> files = Files.list(folder)) {
            // A process that makes the cache at this moment marks it before it writes anything else.
            if (files.anyMatch(file -> !file.getFileName().toString().equals(MARKER))
                    && !Files.isRegularFile(folder.resolve(MARKER))) {
                throw new MalformedStoreException(folder, "a folder with other files", "an empty folder, or a cache");
            }
        }
        try {
            Files.writeString(folder.resolve(MARKER), MARKER_TEXT, StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException _) {
            // Another process was faster.
        }
    }

    /** {@return the most that the cache may hold} */
    public long limitBytes() {
        return eviction.limitBytes();
    }

    public Path folder() {
        return folder;
    }

    /** Opens an object whose blocks are fetched by the reader as they are needed; the caller closes it. */
    public CachedObject open(RemoteObject object, ObjectReader reader) throws IOException {
        return new CachedObject(this, object, reader, ObjectFolder.open(folder(object), object, blockBytes));
    }

    /** Returns the path of a file that is derived from an object and removed with it; it need not exist. */
    public Path derived(RemoteObject object, String name) {
        return folder(object).resolve("derived" + name);
    }

    private Path folder(RemoteObject object) {
        return objects().resolve(RemoteObject.nameKey(object.name(), object.scope())
                + (object.isOfRun() ? OF_RUN : "")).resolve(object.versionKey(blockBytes));
    }

    /** Removes the objects of runs that have ended. */
    private void removeOtherRuns() throws IOException {
        for (Path name : folders(objects())) {
            if (name.getFileName().toString().endsWith(OF_RUN)) {
                for (Path version : versions(name, false)) {
                    try (ObjectFolder opened = ObjectFolder.openExisting(version)) {
                        opened.removeUnused();
                    } catch (NoSuchFileException _) {
                        // removed
                    }
                }
                deleteIfEmpty(name);
            }
        }
    }

    private Path objects() {
        return folder.resolve("objects");
    }

    /** Returns the version of an object in the cache that was opened last; empty if there is none. */
    public Optional<RemoteObject> find(String name, String scope) throws IOException {
        RemoteObject found = null;
        Instant latest = Instant.MIN;
        for (Path version : versions(objects().resolve(RemoteObject.nameKey(name, scope)), false)) {
            try {
                Instant opened = ObjectFolder.opened(version);
                RemoteObject object = ObjectFolder.object(version);
                if (opened.isAfter(latest) && object.isVersioned()) {
                    found = object;
                    latest = opened;
                }
            } catch (NoSuchFileException _) {
                // removed
            }
        }
        return Optional.ofNullable(found);
    }

    /** An object in the cache, the size of its blocks there, and the time when one of them was last used. */
    public record Entry(RemoteObject object, long presentBytes, Instant lastUse) {
    }

    /** {@return the objects in the cache, by name; those that another process removes meanwhile are left out} */
    public List<Entry> entries() throws IOException {
        List<Entry> entries = new ArrayList<>();
        for (Path version : versionFolders()) {
            try (BlockTable table = BlockTable.read(version.resolve(BlockTable.NAME))) {
                long last = 0;
                for (int block = 0; block < table.blocks(); block++) {
                    last = table.isPresent(block) ? Math.max(last, table.lastUse(block)) : last;
                }
                entries.add(new Entry(ObjectFolder.object(version), table.presentBytes(),
                        last == 0 ? ObjectFolder.opened(version) : Instant.ofEpochMilli(last)));
            } catch (NoSuchFileException _) {
                // removed
            }
        }
        entries.sort(Comparator.comparing(entry -> entry.object().name()));
        return entries;
    }

    /** {@return the names of the objects of a scope in the cache that another run can use, each once} */
    public List<String> names(String scope) throws IOException {
        return entries().stream().map(Entry::object).filter(object -> object.scope().equals(scope)
                && object.isVersioned()).map(RemoteObject::name).distinct().toList();
    }

    /** Checks every block against its checksum and drops damaged ones, which it returns, by object and offset. */
    public List<String> verify() throws IOException {
        List<String> damaged = new ArrayList<>();
        for (Path version : versionFolders()) {
            try (ObjectFolder opened = ObjectFolder.openExisting(version)) {
                for (int block = 0; block < opened.table.blocks(); block++) {
                    if (opened.table.isPresent(block) && !opened.isGood(block) && opened.table.isPresent(block)) {
                        damaged.add(ObjectFolder.object(version).name() + ": at byte " + opened.table.start(block));
                        opened.drop(block);
                    }
                }
            } catch (NoSuchFileException _) {
                // removed
            }
        }
        return damaged;
    }

    /**
     * Drops the least recently used blocks until at most {@code limitBytes} are left, and removes the folders of
     * objects without blocks that no process uses. Returns the number of dropped bytes.
     */
    public long trim(long limitBytes) throws IOException {
        long dropped = eviction.trim(limitBytes);
        for (Path name : folders(objects())) {
            for (Path version : versions(name, true)) {
                if (ObjectFolder.isLeftover(version)) {
                    removeIfOld(version);
                } else {
                    removeIfEmpty(version);
                }
            }
            deleteIfEmpty(name);
        }
        return dropped;
    }

    private static void deleteIfEmpty(Path name) throws IOException {
        try {
            Files.deleteIfExists(name);
        } catch (DirectoryNotEmptyException _) {
            // has objects
        }
    }

    /** Removes a folder that a process left when it died; a new one may be in the making. */
    private static void removeIfOld(Path leftover) throws IOException {
        try {
            if (Files.getLastModifiedTime(leftover).toInstant().isBefore(Instant.now().minus(LEFTOVER_AGE))) {
                ObjectFolder.remove(leftover);
            }
        } catch (NoSuchFileException _) {
            // removed
        }
    }

    private static void removeIfEmpty(Path version) throws IOException {
        try (ObjectFolder opened = ObjectFolder.openExisting(version)) {
            if (opened.table.presentBytes() == 0) {
                opened.removeUnused();
            }
        } catch (NoSuchFileException _) {
            // removed
        }
    }

    /** The folders of all objects. */
    List<Path> versionFolders() throws IOException {
        List<Path> all = new ArrayList<>();
        for (Path name : folders(objects())) {
            all.addAll(versions(name, false));
        }
        return all;
    }

    private static List<Path> folders(Path parent) throws IOException {
        return versions(parent, false);
    }

    private static List<Path> versions(Path parent, boolean leftovers) throws IOException {
        try (Stream<Path> files = Files.list(parent)) {
            return files.filter(Files::isDirectory).filter(path -> leftovers || !ObjectFolder.isLeftover(path))
                    .toList();
        } catch (NoSuchFileException _) {
            return List.of();
        }
    }

    void execute(Runnable fetch) {
        running.incrementAndGet();
        threads.execute(() -> {
            try {
                fetch.run();
            } finally {
                running.decrementAndGet();
                startAhead();
            }
        });
    }

    /** Lets an object go on with what it is to fetch ahead when fewer blocks are fetched. */
    void startAheadLater(CachedObject object, boolean isNext) {
        if (isNext) {
            waiting.addFirst(object);
        } else {
            waiting.addLast(object);
        }
    }

    /** Lets objects go on, in their order. Not for who holds the monitor of one. */
    void startAhead() {
        while (mayReadAhead()) {
            CachedObject next = waiting.poll();
            if (next == null) {
                return;
            }
            next.startAhead();
        }
    }

    boolean mayReadAhead() {
        return running.get() < Math.min(readAheadBlocks, Math.max(1, mostAheadBytes() / blockBytes));
    }

    /** Fails if a range can never be there as a whole. */
    void checkFits(RemoteObject object, long bytes) throws IOException {
        eviction.checkFits(object, bytes);
    }

    void makeRoom(RemoteObject object, long bytes) throws IOException {
        eviction.makeRoom(object, bytes);
    }

    boolean reserve(long bytes, long steps) throws IOException {
        return eviction.reserve(bytes, steps);
    }

    void notStored(long bytes) {
        if (bytes > 0) {
            eviction.notStored(bytes);
        }
    }

    void sent() {
        requests.increment();
    }

    FetchAhead.Fetched fetched() {
        return new FetchAhead.Fetched(fetchedBytes.sum(), fetchedBlocks.sum(), requests.sum());
    }

    /** The most that may be fetched ahead and not be read yet: it takes the place of what is read again later. */
    long mostAheadBytes() {
        return Math.min(limitBytes() / 8, Math.max(limitBytes() / 64, (long) readAheadBlocks * blockBytes));
    }

    void publish(ObjectFolder.BlockWriter writer, long bytes) throws IOException {
        eviction.publish(writer, bytes);
        fetchedBytes.add(bytes);
        fetchedBlocks.increment();
    }

    void took(long nanos) {
        fetchNanos.updateAndGet(mean -> mean == 0 ? nanos : mean + (nanos - mean) / 8);
    }

    long fetchNanos() {
        return fetchNanos.get();
    }

    /** Starts a plan of reads; empty where the processes of a node cannot see whether another one lives. */
    Optional<CachePlan> plan() throws IOException {
        return Posix.AVAILABLE ? Optional.of(new CachePlan(this)) : Optional.empty();
    }

    /** The folder of the living processes' plans. */
    Path plans() {
        return folder.resolve("plans");
    }

    void damaged(RemoteObject object, long offset) {
        LOG.log(System.Logger.Level.WARNING, "{0}: at byte {1}: the cached block in {2} is damaged; it is fetched"
                + " again", object.name(), offset, folder);
    }

    @Override
    public String toString() {
        return folder + " (" + ByteText.of(blockBytes) + " blocks)";
    }
}
