// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.FileSource;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.remote.RemoteSettings.Access;
import io.penstock.remote.cache.CachedObject;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The files of one server or bucket as readers see them: opened through the cache. Thread-safe.
 *
 * <p>What was learned of a path is remembered for some seconds: opening a store asks several times for each file.
 */
final class RemoteSource implements FileSource {

    private static final long REMEMBERED_NANOS = 10_000_000_000L;
    static final int MOST_REMEMBERED = 200_000;
    private static final FileInfo FOLDER = new FileInfo(EntryKind.FOLDER, 0, "");

    private final ObjectServer server;
    private final RemoteFiles files;
    private final LongSupplier clock;
    /** Replaced when it has become too much or too old: what a request that began before then learns is lost. */
    private volatile Known known = new Known();

    /**
     * What was learned of a path.
     *
     * @param denial why the server does not say whether it is there; null if it does
     */
    private record Remembered(FileInfo info, @Nullable AccessDeniedException denial, long nanos) {
    }

    /**
     * What was learned of paths.
     *
     * @param infos by path
     * @param listed the folders that were listed whole, with all their files among the infos, and when
     * @param folders the names of the subfolders of a folder that was listed
     */
    private record Known(Map<String, Remembered> infos, Map<String, Long> listed, Map<String, Cached> folders) {

        Known() {
            this(new ConcurrentHashMap<>(), new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
        }
    }

    private record Cached(List<String> names, long nanos) {
    }

    /** What the cache held at the last look; null before the first. */
    private volatile @Nullable Cached cached;

    /** The paths that a user named, or that were opened: of those a denial is an error. */
    private final Set<String> named = ConcurrentHashMap.newKeySet();

    RemoteSource(ObjectServer server, RemoteFiles files, LongSupplier clock) {
        this.server = server;
        this.files = files;
        this.clock = clock;
    }

    @Override
    public String root() {
        return server.root();
    }

    @Override
    public FileInfo info(String path) throws IOException {
        return info(path, named.contains(path));
    }

    @Override
    public FileInfo infoOfNamed(String path) throws IOException {
        return info(path, true);
    }

    private FileInfo info(String path, boolean isNamed) throws IOException {
        Known now = known;
        Remembered one = now.infos.get(path);
        if (one != null && isRecent(one.nanos)) {
            return infoOf(one, isNamed);
        }
        int slash = path.lastIndexOf('/');
        Long folder = now.listed.get(path.substring(0, Math.max(slash, 0)));
        if (folder != null && isRecent(folder) && !path.endsWith("/") && one == null) {
            return FileInfo.ABSENT;
        }
        return infoNow(path, isNamed);
    }

    String scope() {
        return server.scope();
    }

    /** Says that a user named a path. */
    void name(String path) {
        named.add(path);
    }

    /**
     * Returns what was learned. A server that denies a file which is looked for beside another one need not have it: a
     * signature is of one object, and without the right to list its bucket S3 denies what is absent.
     */
    private static FileInfo infoOf(Remembered one, boolean isNamed) throws AccessDeniedException {
        AccessDeniedException denial = one.denial;
        if (denial != null && isNamed) {
            throw new AccessDeniedException(denial.getFile(), null, denial.getReason());
        }
        return one.info;
    }

    /** Returns what writes objects here. */
    S3Uploads uploads() {
        return server.uploads();
    }

    /** Returns the path of a name in this bucket. */
    String key(String name) {
        return files.key(name, this);
    }

    /** Forgets what was learned of paths, since this process has changed objects. */
    void forget() {
        known = new Known();
    }

    private boolean isRecent(long nanos) {
        return clock.getAsLong() - nanos < REMEMBERED_NANOS;
    }

    @Override
    public FileInfo infoNow(String path) throws IOException {
        return infoNow(path, named.contains(path));
    }

    private FileInfo infoNow(String path, boolean isNamed) throws IOException {
        if (files.settings().access() == Access.OFFLINE) {
            return cached(path);
        }
        Known now = knownWithRoom();
        Remembered one;
        try {
            one = new Remembered(server.info(path), null, clock.getAsLong());
        } catch (AccessDeniedException e) {
            one = new Remembered(FileInfo.ABSENT, e, clock.getAsLong());
        }
        now.infos.put(path, one);
        return infoOf(one, isNamed);
    }

    private Known knownWithRoom() {
        if (known.infos.size() >= MOST_REMEMBERED) {
            forget();
        }
        return known;
    }

    /** Returns what the cache knows of a path. */
    private FileInfo cached(String path) throws IOException {
        Optional<RemoteObject> object = files.cache().find(root() + path, server.scope());
        if (object.isPresent()) {
            return new FileInfo(EntryKind.FILE, object.get().byteSize(), object.get().version());
        }
        return cachedFiles(path).isEmpty() ? FileInfo.ABSENT : FOLDER;
    }

    /** The names of cached objects in a folder, with what is below it: {@code a.npy}, {@code sub/b.npy}. */
    private List<String> cachedFiles(String folder) throws IOException {
        String prefix = root() + (folder.isEmpty() || folder.endsWith("/") ? folder : folder + "/");
        Cached now = cached;
        if (now == null || !isRecent(now.nanos)) {
            now = new Cached(files.cache().names(server.scope()), clock.getAsLong());
            cached = now;
        }
        return now.names.stream().filter(name -> name.startsWith(prefix) && name.length() > prefix.length())
                .map(name -> name.substring(prefix.length())).toList();
    }

    @Override
    public List<String> files(String folder, Predicate<String> chosen) throws IOException {
        if (files.settings().access() == Access.OFFLINE) {
            return cachedFiles(folder).stream().filter(name -> name.indexOf('/') < 0).filter(chosen).toList();
        }
        List<String> names = new ArrayList<>();
        list(withoutSlash(folder)).forEach((name, info) -> {
            if ((info == null || info.kind() == EntryKind.FILE) && chosen.test(name)) {
                names.add(name);
            }
        });
        return names;
    }

    /** Lists a folder and remembers what that tells. */
    private Map<String, @Nullable FileInfo> list(String path) throws IOException {
        Known now = knownWithRoom();
        Map<String, @Nullable FileInfo> entries = server.list(path);
        entries.forEach((name, info) -> {
            if (info != null) {
                now.infos.put(path.isEmpty() ? name : path + "/" + name, new Remembered(info, null,
                        clock.getAsLong()));
            }
        });
        if (entries.values().stream().allMatch(info -> info != null)) {
            now.listed.put(path, clock.getAsLong());
        }
        now.folders.put(path, new Cached(foldersOf(entries), clock.getAsLong()));
        return entries;
    }

    private static List<String> foldersOf(Map<String, @Nullable FileInfo> entries) {
        List<String> names = new ArrayList<>();
        entries.forEach((name, info) -> {
            if (info != null && info.kind() == EntryKind.FOLDER) {
                names.add(name);
            }
        });
        return names;
    }

    @Override
    public List<String> folders(String folder) throws IOException {
        if (files.settings().access() == Access.OFFLINE) {
            return cachedFiles(folder).stream().filter(name -> name.indexOf('/') > 0)
                    .map(name -> name.substring(0, name.indexOf('/'))).distinct().toList();
        }
        String path = withoutSlash(folder);
        Cached before = known.folders.get(path);
        return before != null && isRecent(before.nanos) ? before.names : foldersOf(list(path));
    }

    private static String withoutSlash(String folder) {
        return folder.endsWith("/") ? folder.substring(0, folder.length() - 1) : folder;
    }

    @Override
    public MappedFile open(Location file, @Nullable MappedFile index) throws IOException {
        FileInfo info = infoOfNamed(file.path());
        if (info.kind() != EntryKind.FILE) {
            throw new NoSuchFileException(file.toString(), null, info.kind() == EntryKind.FOLDER
                    ? "a folder, expected a file" : files.settings().access() == Access.OFFLINE
                            ? "not in the cache " + files.settings().cacheFolder() + ", and no request is sent"
                                    + " (offline)"
                            : "no such file");
        }
        name(file.path());
        CachedObject object = open(file.path(), info);
        try {
            return MappedFile.openSparse(file, info.version(), object.data(), object, index);
        } catch (IOException | RuntimeException e) {
            object.close();
            throw e;
        }
    }

    @Override
    public Optional<Path> derived(String path, String name) throws IOException {
        FileInfo info = info(path);
        return info.kind() == EntryKind.FILE ? Optional.of(files.cache().derived(object(path, info), name))
                : Optional.empty();
    }

    /** The object as the cache knows it: without a version, it is another one in each run. */
    private RemoteObject object(String path, FileInfo info) {
        return new RemoteObject(root() + path, server.scope(), info.version().equals(FileInfo.UNKNOWN_VERSION)
                ? files.runVersion() : info.version(), info.byteSize());
    }

    private CachedObject open(String path, FileInfo info) throws IOException {
        RemoteObject object = new RemoteObject(root() + path, info.version(), info.byteSize());
        boolean isOffline = files.settings().access() == Access.OFFLINE;
        ObjectReader reader = (offset, bytes, sink) -> {
            if (isOffline) {
                throw new NoSuchFileException(object.name(), null, bytes + " bytes from " + offset
                        + " are not in the cache " + files.settings().cacheFolder() + ", and no request is sent"
                        + " (offline)");
            }
            server.read(path, object, offset, bytes, sink);
        };
        try {
            return files.cache().open(object(path, info), reader);
        } catch (AccessDeniedException e) {
            throw RemoteFiles.unusable(files.settings().cacheFolder(), e);
        }
    }
}
