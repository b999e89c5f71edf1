// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.local.RegularFile;
import io.penstock.memory.DType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The store formats, one {@link StoreProvider} each.
 *
 * <p>Detection tries formats of other jars first, by name, then Penstock's own in the order of one list, then those
 * that are a {@linkplain StoreProvider#isFallback fallback}.
 *
 * <p>Providers come from Penstock's own class loader, then from the calling thread's context class loader, where
 * frameworks put an application's jars. A context class loader that is null or sees another copy of Penstock is
 * skipped. A class that both loaders find is one provider.
 */
public final class StoreFormats {

    /**
     * The formats of Penstock's modules, in the order in which detection tries them: exact signatures first, then what
     * a folder or an ending suggests.
     */
    private static final List<String> ORDER = List.of("megatron", "manifest", "llmc", "npy", "npz", "safetensors",
            "hdf5", "arrow", "parquet", "lmdb", "mds", "csv", "jsonl", "webdataset", "images", "datatrove", "nanogpt",
            "files", "raw");

    /** The modules that have those of them that the engine has not. */
    private static final Map<String, List<String>> WINGS = Map.of(
            "penstock-formats", List.of("hdf5", "arrow", "parquet", "lmdb", "mds", "csv", "jsonl", "webdataset",
                    "files"),
            "penstock-pictures", List.of("images"));

    private StoreFormats() {
    }

    /**
     * {@return all providers, in detection order}
     *
     * @throws LibraryException if a provider cannot be loaded, or two have the same name; names them
     */
    public static List<StoreProvider> all() {
        List<StoreProvider> all = load();
        Map<String, StoreProvider> names = new HashMap<>();
        for (StoreProvider one : all) {
            StoreProvider other = names.put(one.name(), one);
            if (other != null) {
                throw new LibraryException("two providers of the format '" + one.name() + "': "
                        + other.getClass().getName() + " and " + one.getClass().getName() + ", expected one", null);
            }
        }
        return all;
    }

    private static List<StoreProvider> load() {
        ClassLoader own = StoreFormats.class.getClassLoader();
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        List<StoreProvider> found = new ArrayList<>();
        try {
            addAll(found, own);
            if (context != own && seesThisCopy(context)) {
                addAll(found, context);
            }
        } catch (ServiceConfigurationError e) {
            throw new LibraryException(e.getMessage(), e);
        }
        found.sort(StoreFormats::compare);
        return List.copyOf(found);
    }

    private static int compare(StoreProvider one, StoreProvider other) {
        int byFallback = Boolean.compare(one.isFallback(), other.isFallback());
        int byOrder = byFallback != 0 ? byFallback
                : Integer.compare(ORDER.indexOf(one.name()), ORDER.indexOf(other.name()));
        return byOrder != 0 ? byOrder : one.name().compareTo(other.name());
    }

    private static void addAll(List<StoreProvider> found, @Nullable ClassLoader loader) {
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, loader)) {
            if (found.stream().noneMatch(known -> known.getClass() == provider.getClass())) {
                found.add(provider);
            }
        }
    }

    private static boolean seesThisCopy(@Nullable ClassLoader loader) {
        try {
            return loader != null && loader.loadClass(StoreProvider.class.getName()) == StoreProvider.class;
        } catch (ClassNotFoundException _) {
            return false;
        }
    }

    /**
     * {@return the provider of a format}
     *
     * @param name the format's name, for example {@code megatron}
     * @throws IllegalArgumentException if there is no such format; lists the known ones
     */
    public static StoreProvider named(String name) {
        List<StoreProvider> all = all();
        return all.stream().filter(provider -> provider.name().equals(name)).findFirst().orElseThrow(() ->
                new IllegalArgumentException("unknown format '" + name + "', expected one of " + names(all)
                        + absent(all)));
    }

    /**
     * Detects the format of a store, by content first and then by name, as {@link Store#open(Location, OpenOptions)}
     * does.
     *
     * @param path a file or a folder of the store, or the prefix of a Megatron store
     * @return the provider; the store may still turn out malformed
     * @throws IOException if the file is missing or cannot be read
     * @throws MalformedStoreException if neither content nor name matches a format
     * @throws LibraryException if a provider fails; names it
     */
    public static StoreProvider recognize(Location path) throws IOException {
        Candidate candidate = Candidate.of(path);
        if (!candidate.isFile() && !candidate.isFolder() && path.exists()) {
            path.openChannel().close();
        }
        Optional<StoreProvider> detected = detect(candidate);
        if (detected.isPresent()) {
            return detected.get();
        }
        if (!path.exists()) {
            if (path.local().isPresent()) {
                RegularFile.checkLink(path.local().get());
            }
            new Location(path.source(), path.path() + ".idx").infoOfNamed();     // an error if access is denied
            throw new NoSuchFileException(path.toString(), null, "no such file, and no " + path + ".idx");
        }
        String found = candidate.isFile() ? "no format detected"
                : isEmpty(path) ? "an empty folder (hidden files do not count)"
                : "a folder in which no format is detected";
        throw new MalformedStoreException(path, found, "one of " + names(all()) + " (or name its format)"
                + absent(all()));
    }

    private static boolean isEmpty(Location folder) throws IOException {
        return folder.files(name -> true).isEmpty() && folder.folders(name -> true).isEmpty();
    }

    /**
     * {@return the provider of the format of a file or folder that exists, as {@link #recognize} finds it; empty if no
     * format is detected}
     *
     * @param path the path
     * @throws IOException if it cannot be read
     */
    public static Optional<StoreProvider> detect(Location path) throws IOException {
        return detect(Candidate.of(path));
    }

    private static Optional<StoreProvider> detect(Candidate candidate) throws IOException {
        List<StoreProvider> all = all();
        for (boolean byContent : new boolean[] {true, false}) {
            for (StoreProvider provider : all) {
                if (matches(provider, candidate, byContent)) {
                    return Optional.of(provider);
                }
            }
        }
        return Optional.empty();
    }

    /** Opens a store and checks it against its provider and the options. */
    static Store open(StoreProvider format, Location path, OpenOptions options) throws IOException {
        DType given = options.dtype();
        if (format.isTokens() && given != null && (!given.isInteger() || given == DType.U64)) {
            throw new IllegalArgumentException("tokens are not stored as " + given);
        }
        if (options.member() != null && !format.hasMembers()) {
            throw new IllegalArgumentException(path + ": found member '" + options.member() + "', but the format '"
                    + format.name() + "' has no members, expected none, or one of the formats "
                    + names(all().stream().filter(StoreProvider::hasMembers).toList()));
        }
        Store store = format.open(path, options);
        if (format.isTokens() != store instanceof TokenStore) {
            store.close();
            throw new LibraryException(path + ": " + described(format) + " opens " + store + ", expected "
                    + (format.isTokens() ? "a" : "no") + " store of tokens", null);
        }
        if (store instanceof TokenStore tokens && given != null && tokens.dtype() != given) {
            store.close();
            throw new MalformedStoreException(path, "tokens stored as " + tokens.dtype(), given + ", as given");
        }
        return store;
    }

    private static boolean matches(StoreProvider provider, Candidate candidate, boolean byContent) throws IOException {
        try {
            return byContent ? provider.matchesContent(candidate) : provider.matchesName(candidate);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (PenstockException e) {
            throw e;
        } catch (RuntimeException | LinkageError e) {
            throw new LibraryException(candidate.path() + ": " + described(provider)
                    + " failed to say whether it is one: " + e, e);
        }
    }

    /** Returns the provider of the named format, otherwise of the detected one. */
    static StoreProvider of(Location path, OpenOptions options) throws IOException {
        return options.format() == null ? recognize(path) : named(options.format());
    }

    private static String described(StoreProvider provider) {
        return "the provider of the format '" + provider.name() + "' (" + provider.getClass().getName() + ")";
    }

    /** Says which formats would be known if a module were there. */
    private static String absent(List<StoreProvider> all) {
        List<String> known = names(all);
        return WINGS.entrySet().stream().filter(wing -> !known.containsAll(wing.getValue())).sorted(
                Map.Entry.comparingByKey()).map(wing -> "; " + wing.getKey() + ", which has " + wing.getValue()
                        + ", is not on the class path").collect(Collectors.joining());
    }

    private static List<String> names(List<StoreProvider> providers) {
        return providers.stream().map(StoreProvider::name).toList();
    }
}
