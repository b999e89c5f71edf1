package io.penstock.format.safetensors;

import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.safetensors.SafetensorsHeader.Entry;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The tensors of a safetensors file, or of the files in an index, as views of the mappings.
 *
 * <p>Tensors are sorted by name in UTF-8; their order in the files depends on alignment. With an index, tensors it does
 * not name are ignored. Tensors of an unsupported type, such as {@code F4}, are {@link #unread}.
 */
public final class SafetensorsStore implements TensorStore, StoreInfo.Described {

    static final String ENDING = ".safetensors";
    private static final Comparator<Located> BY_NAME = (a, b) -> Arrays.compareUnsigned(
            a.entry.name().getBytes(StandardCharsets.UTF_8), b.entry.name().getBytes(StandardCharsets.UTF_8));

    private record Shard(MappedFile file, SafetensorsHeader header) {
    }

    private record Located(MappedFile file, Entry entry, long byteOffset) {

        Located(Shard shard, Entry entry) {
            this(shard.file, entry, SafetensorsHeader.LENGTH_BYTES + shard.header.headerBytes() + entry.begin());
        }

        Tensor tensor() {
            return Tensor.of(file.range(byteOffset, entry.end() - entry.begin()), entry.spec().dtype(),
                    entry.spec().shape());
        }
    }

    private final SafetensorsIndex index;
    private final List<Shard> shards;
    private final List<Located> tensors;
    /** Those of types that we have not. */
    private final List<Located> others;
    private final List<TensorSpec> specs;
    private volatile String fingerprint;

    private SafetensorsStore(SafetensorsIndex index, List<Shard> shards, List<Located> tensors) {
        this.index = index;
        this.shards = shards;
        List<Located> sorted = tensors.stream().sorted(BY_NAME).toList();
        this.tensors = sorted.stream().filter(located -> located.entry.spec() != null).toList();
        this.others = sorted.stream().filter(located -> located.entry.spec() == null).toList();
        this.specs = this.tensors.stream().map(located -> located.entry.spec()).toList();
    }

    /**
     * Opens and checks a store.
     *
     * @param path a {@code .safetensors}, a {@code .safetensors.index.json}, or a folder with one index in it or,
     *     without an index, one file
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a file is not a whole one, is missing, or lacks a tensor that the index says
     *     it has
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static SafetensorsStore open(Location path) throws IOException {
        Location file = path.isFolder() ? fileIn(path) : path;
        return file.toString().endsWith(SafetensorsIndex.ENDING) ? openIndex(file) : openFile(file);
    }

    /** The index in a folder, or else the only file. */
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

    private static SafetensorsStore openFile(Location path) throws IOException {
        Shard shard = openShard(path);
        return new SafetensorsStore(null, List.of(shard),
                shard.header.entries().stream().map(entry -> new Located(shard, entry)).toList());
    }

    private static Shard openShard(Location path) throws IOException {
        return Mapping.open(path, file -> new Shard(file, SafetensorsHeader.read(file)));
    }

    private static SafetensorsStore openIndex(Location path) throws IOException {
        SafetensorsIndex index = SafetensorsIndex.read(path);
        Map<String, Shard> shards = new LinkedHashMap<>();
        try {
            for (String name : index.shards()) {
                Location file = index.resolve(name);
                if (!file.isFile()) {
                    throw new MalformedStoreException(path, "no file '" + name + "'", "one, as weight_map says");
                }
                shards.put(name, openShard(file));
            }
            return new SafetensorsStore(index, List.copyOf(shards.values()), locate(index, shards));
        } catch (Throwable t) {
            shards.values().forEach(shard -> shard.file.close());
            throw t;
        }
    }

    private static List<Located> locate(SafetensorsIndex index, Map<String, Shard> shards)
            throws MalformedStoreException {
        Map<String, Map<String, Entry>> entries = new HashMap<>();
        shards.forEach((name, shard) -> entries.put(name, shard.header.entries().stream()
                .collect(Collectors.toMap(Entry::name, entry -> entry))));
        List<Located> tensors = new ArrayList<>();
        for (Map.Entry<String, String> each : index.weightMap().entrySet()) {
            Shard shard = shards.get(each.getValue());
            Entry entry = entries.get(each.getValue()).get(each.getKey());
            if (entry == null) {
                throw new MalformedStoreException(shard.file.location(), "no tensor '" + each.getKey() + "'",
                        "one, as " + index.path() + " says");
            }
            tensors.add(new Located(shard, entry));
        }
        return tensors;
    }

    @Override
    public List<TensorSpec> tensors() {
        return specs;
    }

    @Override
    public Map<String, String> unread() {
        Map<String, String> unread = new LinkedHashMap<>();
        others.forEach(other -> unread.put(other.entry.name(), refusal(other)));
        return unread;
    }

    private static String refusal(Located other) {
        return "its elements are " + other.entry.type() + ", " + other.entry.type().what();
    }

    private static Map<String, Object> describe(Located other) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", other.entry.name());
        fields.put("stored_dtype", other.entry.type().toString());
        fields.put("shape", other.entry.shape());
        fields.put("nbytes", other.entry.end() - other.entry.begin());
        fields.put("refused", refusal(other));
        return fields;
    }

    @Override
    public Tensor tensor(int index) {
        return tensors.get(index).tensor();
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Located located = tensors.get(index);
        TensorSpec spec = located.entry.spec();
        long rowCount = spec.rank() == 0 ? 1 : spec.dim(0);
        if (firstRow < 0 || rows < 0 || rows > rowCount - firstRow) {
            throw new IndexOutOfBoundsException(located.file.location() + ": rows from " + firstRow + ", " + rows
                    + " of them, are not within the 0 to " + rowCount + " of tensor '" + spec.name() + "'");
        }
        long rowBytes = spec.rowBytes();
        into.set(located.file, located.byteOffset + firstRow * rowBytes, rows * rowBytes);
    }

    @Override
    public boolean isConverted(int index) {
        tensors.get(index);
        return false;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            shards.forEach(shard -> sample.add(shard.file));
            fingerprint = "safetensors:tensors=" + tensors.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        Map<String, Object> details = new LinkedHashMap<>();
        List<Location> files = new ArrayList<>();
        if (index == null) {
            describe(shards.getFirst().header, details);
        } else {
            files.add(index.path());
            details.put("weight_map", index.weightMap());
            details.put("shards", index.shards());
        }
        if (!others.isEmpty()) {
            details.put("other_tensors", others.stream().map(SafetensorsStore::describe).toList());
        }
        shards.forEach(shard -> files.add(shard.file.location()));
        return new StoreInfo("safetensors", files, details, tensors.stream()
                .map(each -> new StoredArray(each.entry.name(), each.entry.type().toString(), "C", each.tensor()))
                .toList());
    }

    private static void describe(SafetensorsHeader header, Map<String, Object> details) {
        if (header.metadata() != null) {
            details.put("metadata", header.metadata());
        }
        details.put("header_bytes", header.headerBytes());
        Map<String, Object> offsets = new LinkedHashMap<>();
        header.entries().forEach(entry -> offsets.put(entry.name(), List.of(entry.begin(), entry.end())));
        details.put("data_offsets", offsets);
    }

    @Override
    public void close() {
        shards.forEach(shard -> shard.file.close());
    }

    @Override
    public String toString() {
        return (index == null ? shards.getFirst().file.location() : index.path()) + " (" + tensors.size() + " tensors)";
    }
}
