// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.TensorFiles;
import io.penstock.format.safetensors.SafetensorsHeader.Entry;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.json.Json;
import io.penstock.store.Candidate;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoreWriter;
import io.penstock.store.StreamedTensor;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hugging Face's tensor files: one file, or several with an index. Tensors are views of the mappings.
 *
 * <p>Tensors are sorted by name in UTF-8; their order in the files depends on alignment. With an index, tensors it does
 * not name are ignored. Tensors of an unsupported type, such as {@code F4}, are {@link TensorStore#unread unread}.
 */
public final class SafetensorsProvider implements StoreProvider {

    private static final String NAME = "safetensors";
    private static final String ENDING = ".safetensors";
    private static final Comparator<Located> BY_NAME = Comparator.comparing(
            located -> located.entry.name().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private record Shard(MappedFile file, SafetensorsHeader header) {
    }

    private record Located(Shard shard, Entry entry) {
    }

    /** For the service loader. */
    public SafetensorsProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return SafetensorsHeader.isStart(candidate.head());
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() && candidate.nameEndsWith(ENDING, SafetensorsIndex.ENDING)
                || candidate.holdsEnding(SafetensorsIndex.ENDING)
                || candidate.holdsEnding(ENDING);
    }

    @Override
    public Optional<StoreWriter> writer() {
        return Optional.of(new Writer());
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return open(path);
    }

    /**
     * Opens a {@code .safetensors}, a {@code .safetensors.index.json}, or a folder with one index or, without an index,
     * one file.
     */
    static TensorStore open(Location path) throws IOException {
        Location file = path.isFolder() ? fileIn(path) : path;
        return file.toString().endsWith(SafetensorsIndex.ENDING) ? openIndex(file) : openFile(file);
    }

    /** Returns the index in a folder, otherwise the only file. */
    private static Location fileIn(Location folder) throws IOException {
        for (String ending : List.of(SafetensorsIndex.ENDING, ENDING)) {
            List<Location> found = folder.files(name -> name.endsWith(ending));
            if (found.size() > 1) {
                throw new MalformedStoreException(folder, found.size() + " files *" + ending, "one, or the path of one"
                        + " (several files of tensors are one store by their *" + SafetensorsIndex.ENDING + ")");
            }
            if (!found.isEmpty()) {
                return found.getFirst();
            }
        }
        throw new MalformedStoreException(folder, "a folder without *" + ENDING, "one such file, or an index of them");
    }

    private static TensorStore openFile(Location path) throws IOException {
        Shard shard = openShard(path);
        Map<String, @Nullable Object> details = new LinkedHashMap<>();
        if (shard.header.metadata() != null) {
            details.put("metadata", shard.header.metadata());
        }
        details.put("header_bytes", shard.header.headerBytes());
        Map<String, @Nullable Object> offsets = new LinkedHashMap<>();
        shard.header.entries().forEach(entry -> offsets.put(entry.name(), List.of(entry.begin(), entry.end())));
        details.put("data_offsets", offsets);
        return store(path, List.of(shard), shard.header.entries().stream().map(entry -> new Located(shard, entry)),
                details, Stream.of());
    }

    private static Shard openShard(Location path) throws IOException {
        return Mapping.open(path, file -> new Shard(file, SafetensorsHeader.read(file)));
    }

    private static TensorStore openIndex(Location path) throws IOException {
        SafetensorsIndex index = SafetensorsIndex.read(path);
        List<Shard> shards = new ArrayList<>();
        List<Located> tensors = new ArrayList<>();
        try {
            for (String name : index.shards()) {
                Location file = path.resolveSibling(name);
                if (file.infoOfNamed().kind() != EntryKind.FILE) {
                    throw new MalformedStoreException(path, "no file '" + name + "'", "one, as weight_map says");
                }
                Shard shard = openShard(file);
                shards.add(shard);
                Map<String, Entry> entries = shard.header.entries().stream()
                        .collect(Collectors.toMap(Entry::name, Function.identity()));
                for (String tensor : index.tensorsIn(name)) {
                    Entry entry = entries.get(tensor);
                    if (entry == null) {
                        throw new MalformedStoreException(file, "no tensor '" + tensor + "'",
                                "one, as " + path + " says");
                    }
                    tensors.add(new Located(shard, entry));
                }
            }
            return store(path, shards, tensors.stream(),
                    Json.members("weight_map", index.weightMap(), "shards", index.shards()), Stream.of(path));
        } catch (Throwable t) {
            shards.forEach(shard -> shard.file.close());
            throw t;
        }
    }

    private static TensorStore store(Location path, List<Shard> shards, Stream<Located> tensors,
            Map<String, @Nullable Object> details, Stream<Location> index) {
        List<TensorFiles.Entry> entries = new ArrayList<>();
        Map<String, String> unread = new LinkedHashMap<>();
        List<Map<String, @Nullable Object>> others = new ArrayList<>();
        tensors.sorted(BY_NAME).forEach(located -> {
            Entry entry = located.entry;
            if (entry.spec() == null) {
                unread.put(entry.name(), unsupported(entry));
                others.add(describe(entry));
            } else {
                entries.add(new TensorFiles.Entry(entry.spec(), entry.type().toString(), "C", false, TensorFiles.Bytes
                        .in(located.shard.file, located.shard.header.dataOffset() + entry.begin())));
            }
        });
        if (!others.isEmpty()) {
            details.put("other_tensors", others);
        }
        List<MappedFile> files = shards.stream().map(Shard::file).toList();
        StoreInfo info = new StoreInfo(NAME, Stream.concat(index, files.stream().map(MappedFile::location)).toList(),
                details, List.of());
        return new TensorFiles(NAME + ":tensors=" + entries.size(), path, files, entries, unread, _ -> info, () -> { });
    }

    private static Map<String, @Nullable Object> describe(Entry other) {
        return Json.members("name", other.name(), "stored_dtype", other.type().toString(), "shape", other.shape(),
                "nbytes", other.end() - other.begin(), "refused", unsupported(other));
    }

    private static String unsupported(Entry other) {
        return "its elements are " + other.type() + ", " + other.type().what();
    }

    /** Writes converted tensors to one file. */
    private record Writer() implements StoreWriter.OfTensors {

        @Override
        public List<String> endings() {
            return List.of(".safetensors");
        }

        @Override
        public boolean isNamed() {
            return true;
        }

        @Override
        public List<Path> write(Path target, List<StreamedTensor> tensors, Map<String, String> metadata,
                IfExists ifExists) throws IOException {
            SafetensorsWriter.write(target, tensors, metadata, ifExists);
            return List.of(target);
        }
    }
}
