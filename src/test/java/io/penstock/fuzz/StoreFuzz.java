// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A format of stores: an input is the files of one, and {@link StoreOracle} says what must hold.
 *
 * @param kind the fixtures that are its seeds, by their kind in the manifest
 * @param stores further seeds, each the files of a store in the order of the names
 * @param options how stores are opened
 * @param opened the file or folder that is opened, in the folder that the files are in; empty for that folder
 * @param maxBytes how large an input may become
 * @param names the files that an input is written to; they may be in sub-folders
 */
record StoreFuzz(String kind, List<List<byte[]>> stores, OpenOptions options, String opened, int maxBytes,
        List<String> names) implements FuzzTarget {

    /** Stores of a format; the first file is the one that is opened. */
    static StoreFuzz of(String kind, String format, String... names) {
        return new StoreFuzz(kind, List.of(), OpenOptions.DEFAULT.withFormat(format), names[0], DEFAULT_MAX_BYTES,
                List.of(names));
    }

    /** Has another file, or the folder of all, opened. */
    StoreFuzz opening(String file) {
        return new StoreFuzz(kind, stores, options, file, maxBytes, names);
    }

    /** Opens with what the files do not say. */
    StoreFuzz with(OpenOptions others) {
        return new StoreFuzz(kind, stores, others, opened, maxBytes, names);
    }

    /** Has inputs up to another size. */
    StoreFuzz upTo(int bytes) {
        return new StoreFuzz(kind, stores, options, opened, bytes, names);
    }

    /** Starts from a further store, whose files are given in the order of the names. */
    StoreFuzz seededBy(byte[]... files) {
        List<List<byte[]>> more = new ArrayList<>(stores);
        more.add(List.of(files));
        return new StoreFuzz(kind, List.copyOf(more), options, opened, maxBytes, names);
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        List<byte[]> inputs = new ArrayList<>(stores.stream().map(Parts::join).toList());
        for (Fixtures.Entry entry : Fixtures.entries(kind).filter(this::isOfTheseFiles).toList()) {
            inputs.add(Parts.join(filesOf(entry)));
        }
        return inputs;
    }

    /** A folder is no seed where one file is wanted. */
    private boolean isOfTheseFiles(Fixtures.Entry entry) {
        return names.size() > 1 || opened.isEmpty() || !Files.isDirectory(entry.path());
    }

    /** The files of an entry, each in the place of the name whose ending it has, up to the first that is missing. */
    private List<byte[]> filesOf(Fixtures.Entry entry) throws IOException {
        if (names.size() == 1 && Files.isRegularFile(entry.path())) {
            return List.of(Files.readAllBytes(entry.path()));
        }
        List<Path> files = entry.files();
        List<byte[]> parts = new ArrayList<>();
        for (String name : names) {
            Path found = files.stream().filter(file -> isNamed(file, name)).findFirst().orElse(null);
            if (found == null) {
                break;
            }
            files = new ArrayList<>(files);
            files.remove(found);
            parts.add(Files.readAllBytes(found));
        }
        return parts.isEmpty() ? List.of(new byte[0]) : parts;
    }

    /** Whether a file has that very name, or all its endings, where the name's stem is {@code x}. */
    private static boolean isNamed(Path file, String name) {
        return name.startsWith("x.") ? file.toString().endsWith(name.substring(1)) : file.endsWith(name);
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        List<byte[]> parts = Parts.split(input, names.size());
        for (int i = 0; i < names.size(); i++) {
            Path file = folder.resolve(names.get(i));
            if (i < parts.size()) {
                Files.createDirectories(file.getParent());
                Files.write(file, parts.get(i));
            } else {
                Files.deleteIfExists(file);
            }
        }
        new StoreOracle(folder.resolve(opened), options, Arrays.hashCode(input)).check();
    }
}
