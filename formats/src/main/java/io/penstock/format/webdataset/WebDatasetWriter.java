// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.StagedChecksums;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a WebDataset: tars of a bounded size, each with an index sidecar. A hidden folder holds everything until
 * {@link #commit} publishes it at once; without a commit nothing remains. Numbered shards have a record that names them
 * all ({@code PATTERN.penstock-shards}). Equal samples give equal bytes.
 *
 * <p>One thread writes. For example:
 *
 * <pre>{@code
 * try (WebDatasetWriter writer = WebDatasetWriter.create(Path.of("train-%06d.tar"), 10_000, 1L << 30)) {
 *     writer.write("000000", Map.of("jpg", image, "cls", label));
 *     writer.commit();
 * }
 * }</pre>
 */
public final class WebDatasetWriter implements AutoCloseable {

    private static final int BUFFER_BYTES = 1 << 20;

    private final Path pattern;
    private final ShardNames names;
    private final long maxSamples;
    private final long maxBytes;
    private final StagingFolder staging;
    private final List<String> shards = new ArrayList<>();
    private final List<ShardRecord.Entry> written = new ArrayList<>();
    private @Nullable TarWriter tar;
    private long samplesInShard;
    private @Nullable String lastKey;
    private boolean committed;

    private WebDatasetWriter(Path pattern, long maxSamples, long maxBytes) throws IOException {
        this.pattern = pattern;
        this.names = ShardNames.of(pattern.getFileName() == null ? "" : pattern.getFileName().toString());
        this.maxSamples = names.isNumbered() ? maxSamples : Long.MAX_VALUE;
        this.maxBytes = names.isNumbered() ? maxBytes : Long.MAX_VALUE;
        this.staging = StagingFolder.open(pattern);
    }

    /**
     * Begins a dataset.
     *
     * @param pattern the shards' path, with {@code %06d} or {@code %d} in the name for their numbers, from 0; without
     *     it, there is one shard of any size
     * @param maxSamples the most samples of a shard
     * @param maxBytes a shard of at least this size gets no further sample
     * @return the writer, to be closed by the caller
     * @throws IOException if the folder does not exist or cannot be written, or another writer is active
     * @throws IllegalArgumentException if a limit is not positive
     */
    public static WebDatasetWriter create(Path pattern, long maxSamples, long maxBytes) throws IOException {
        if (maxSamples < 1 || maxBytes < 1) {
            throw new IllegalArgumentException("shards of at most " + maxSamples + " samples and " + maxBytes
                    + " bytes, expected at least 1");
        }
        return new WebDatasetWriter(pattern, maxSamples, maxBytes);
    }

    /**
     * {@return the path of the record that names all numbered shards, beside them}
     *
     * @param pattern the shards' path, as {@link #create} takes it
     */
    public static Path recordFor(Path pattern) {
        return pattern.resolveSibling(ShardRecord.nameFor(String.valueOf(pattern.getFileName())));
    }

    /**
     * {@return the name of a numbered shard}
     *
     * @param pattern the name of the shards, with {@code %06d} or {@code %d} for their numbers
     * @param number the shard's number, from 0
     * @throws IllegalArgumentException if the name has no place for a number
     */
    public static String shardName(String pattern, int number) {
        return numbered(pattern).name(number);
    }

    private static ShardNames numbered(String pattern) {
        ShardNames names = ShardNames.of(pattern);
        if (!names.isNumbered()) {
            throw new IllegalArgumentException("shards: found '" + pattern + "', expected a name with a place for a"
                    + " number, such as train-%06d.tar");
        }
        return names;
    }

    /**
     * {@return what the record of a dataset says of a shard that was written on its own}
     *
     * @param shard the committed shard, an uncompressed tar with its index beside it
     * @throws IOException if it or its index is missing; names it
     */
    public static String describe(Path shard) throws IOException {
        return entry(shard, String.valueOf(shard.getFileName())).toJson();
    }

    /**
     * {@return the content of the record of a dataset whose shards were written one by one} The record is a file beside
     * them ({@link #recordFor}).
     *
     * @param pattern the name of the shards, as for {@link #shardName}
     * @param shards what {@link #describe} says of each, by their numbers from 0; at least one
     * @throws IllegalArgumentException if one is not a description of the shard with the next number
     */
    public static byte[] record(String pattern, List<String> shards) {
        ShardNames names = numbered(pattern);
        List<ShardRecord.Entry> entries = new ArrayList<>();
        for (String shard : shards) {
            entries.add(ShardRecord.Entry.parse(names.name(entries.size()), shard));
        }
        return ShardRecord.toBytes(names, entries);
    }

    /** What a record says of a shard. */
    private static ShardRecord.Entry entry(Path shard, String name) throws IOException {
        Location location = Location.of(shard);
        ShardState state = ShardState.of(location);
        try (Arena arena = Arena.ofConfined()) {
            ShardIndex index = IndexFile.read(location, state, state.byteSize(), arena);
            if (index == null) {
                throw new MalformedStoreException(location, "no index of it",
                        shard.getFileName() + IndexFile.ENDING + ", which a writer leaves");
            }
            return ShardRecord.Entry.of(name, index);
        }
    }

    /**
     * Appends a sample. Its members are written in the order of their suffixes.
     *
     * @param key the sample's key: a path whose last part has no dot; not that of the previous sample
     * @param members the files by suffix, in lower case; at least one; heap or native memory
     * @throws IOException if it cannot be written
     * @throws IllegalArgumentException if a reader would not find the same key and suffixes; says which
     */
    public void write(String key, Map<String, MemorySegment> members) throws IOException {
        if (committed) {
            throw new IllegalStateException(pattern + ": the dataset is committed");
        }
        if (members.isEmpty()) {
            throw new IllegalArgumentException("the sample '" + key + "' has no members");
        }
        if (key.equals(lastKey)) {
            throw new IllegalArgumentException("two samples in a row with the key '" + key + "' would be read as one");
        }
        TreeMap<String, MemorySegment> sorted = new TreeMap<>(members);
        for (String suffix : sorted.keySet()) {
            checkName(key, suffix);
        }
        TarWriter shard = tar;
        if (shard != null && (samplesInShard >= maxSamples || shard.byteSize() >= maxBytes)) {
            finishShard(shard);
            shard = null;
        }
        if (shard == null) {
            shard = beginShard();
        }
        for (Map.Entry<String, MemorySegment> member : sorted.entrySet()) {
            shard.write(key + "." + member.getKey(), member.getValue());
        }
        samplesInShard++;
        lastKey = key;
    }

    /**
     * Takes a shard that another writer committed, of any size, as the next one: moves it and its sidecars to this
     * writer's folder, which must be on the same file system. Without a {@link #commit} it is deleted.
     *
     * @param shard the shard, an uncompressed tar
     * @throws IOException if it or its index is missing, or it cannot be moved; names it
     */
    public void adopt(Path shard) throws IOException {
        if (committed) {
            throw new IllegalStateException(pattern + ": the dataset is committed");
        }
        if (tar != null) {
            finishShard(tar);
        }
        if (!names.isNumbered() && !shards.isEmpty()) {
            throw new IllegalStateException(pattern + ": has a shard, and no place for the number of another");
        }
        String name = names.name(shards.size());
        written.add(entry(shard, name));
        shards.add(name);
        lastKey = null;
        List<String> to = filesOf(name);
        List<String> from = filesOf(String.valueOf(shard.getFileName()));
        for (int i = 0; i < to.size(); i++) {
            Files.move(shard.resolveSibling(from.get(i)), staging.resolve(to.get(i)));
        }
    }

    private static void checkName(String key, String suffix) {
        byte[] name = (key + "." + suffix).getBytes(StandardCharsets.UTF_8);
        int keyBytes = MemberName.keyBytes(name, name.length);
        boolean same = keyBytes >= 0 && new String(name, 0, keyBytes, StandardCharsets.UTF_8).equals(key)
                && MemberName.suffix(name, name.length, keyBytes).equals(suffix);
        if (!same || MemberName.isMetadata(name, name.length) || key.indexOf('\0') >= 0 || suffix.indexOf('\0') >= 0
                || suffix.equals("__key__") || suffix.equals("__url__") || suffix.equals("__bad__")) {
            throw new IllegalArgumentException("'" + key + "." + suffix + "' would not be read as the '" + suffix
                    + "' of a sample '" + key + "'");
        }
    }

    private TarWriter beginShard() throws IOException {
        String name = names.name(shards.size());
        shards.add(name);
        TarWriter shard = new TarWriter(new SpoolFile(staging.create(name), staging.published(name), BUFFER_BYTES));
        tar = shard;
        samplesInShard = 0;
        return shard;
    }

    private void finishShard(TarWriter shard) throws IOException {
        shard.end();
        tar = null;
        String name = shards.getLast();
        written.add(staging.naming(() -> stageIndex(name)));
        StagedChecksums.write(staging, name);
    }

    private ShardRecord.Entry stageIndex(String name) throws IOException {
        Location shard = Location.of(staging.resolve(name));
        try (Arena arena = Arena.ofConfined()) {
            ShardIndex index = ShardIndexBuilder.build(shard, Compression.NONE, DecodeLimit.DEFAULT,
                    ShardState.of(shard), arena);
            staging.write(name + IndexFile.ENDING, IndexFile.sealed(index));
            return ShardRecord.Entry.of(name, index);
        }
    }

    /**
     * Ends the last shard and publishes all shards at once, durably. Shards of the same names are replaced. Further
     * shards of the old dataset are deleted if its record names them.
     *
     * @return the shards' files, in order
     * @throws IOException if they cannot be written, or a shard with the next number exists that the old record does
     *     not name, and that readers would include. Nothing has changed, unless the message says that shards
     *     were written
     */
    public List<Path> commit() throws IOException {
        if (committed) {
            throw new IllegalStateException(pattern + ": the dataset is committed");
        }
        TarWriter last = tar == null && shards.isEmpty() ? beginShard() : tar;
        if (last != null) {
            finishShard(last);
        }
        Path folder = Folder.of(pattern);
        Set<String> surplus = staging.naming(this::surplus);
        Path next = folder.resolve(names.name(shards.size()));
        if (names.isNumbered() && Files.exists(next) && !surplus.contains(next.getFileName().toString())) {
            throw new IOException(next + ": is there, and would be read with the " + shards.size()
                    + " shards that are written now; remove it, or choose other names");
        }
        List<String> files = new ArrayList<>();
        shards.forEach(shard -> files.addAll(filesOf(shard)));
        if (names.isNumbered()) {
            files.add(writeRecord());
        }
        staging.publish(files, surplus);
        committed = true;
        return shards.stream().map(folder::resolve).toList();
    }

    private static List<String> filesOf(String shard) {
        return List.of(shard, shard + IndexFile.ENDING, shard + BlockChecksums.SUFFIX);
    }

    /** The files of shards that the dataset had before and no longer has. */
    private Set<String> surplus() throws IOException {
        ShardRecord before = names.isNumbered()
                ? ShardSets.record(Location.of(staging.published(names.pattern()))) : null;
        Set<String> surplus = new LinkedHashSet<>();
        if (before != null) {
            before.shards().stream().skip(shards.size()).forEach(shard -> surplus.addAll(filesOf(shard.name())));
        }
        return surplus;
    }

    private String writeRecord() throws IOException {
        String name = ShardRecord.nameFor(names.pattern());
        staging.write(name, MemorySegment.ofArray(ShardRecord.toBytes(names, written)));
        return name;
    }

    /** Ends the writer and deletes what was not committed. Calling it again does nothing. */
    @Override
    public void close() throws IOException {
        try (staging) {
            if (tar != null) {
                tar.close();
                tar = null;
            }
        }
    }
}
