// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.internal.Sha256;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.json.Json;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a plain shard of an MDS dataset, as {@link MdsStore} describes it. Several tasks write shards of one dataset;
 * the {@link #index}, which is written last, names the shards that count. Without a commit, nothing remains.
 *
 * {@snippet :
 * String description;
 * try (MdsShardWriter shard = MdsShardWriter.create(Path.of("images/shard.00000.mds"),
 *         new TreeMap<>(Map.of("image", "jpeg", "label", "str")))) {
 *     shard.write(List.of(image, MemorySegment.ofArray("cat".getBytes())));
 *     description = shard.commit("shard.00000.mds");
 * }
 * String index = MdsShardWriter.index(List.of(description));    // the content of images/index.json
 * }
 *
 * <p>One thread writes. Each sample takes 4 bytes of heap until the commit.
 */
public final class MdsShardWriter implements AutoCloseable {

    private static final int BUFFER_BYTES = 1 << 20;
    private static final String SAMPLES = "samples";
    private static final String SHA256 = "sha256";

    private final Path shard;
    private final List<String> names;
    private final List<MdsEncoding> encodings;
    /** The size of each column's values; -1 if it varies. */
    private final long[] fixedBytes;
    /** What the index and the shard say of the columns. */
    private final Map<String, @Nullable Object> configuration;
    private final byte[] header;
    private final StagingFolder staging;
    /** The samples, which follow the table of their offsets in the shard. */
    private final SpoolFile samples;
    /** The end of each sample in them, unsigned. */
    private int[] ends = new int[256];
    private int count;

    private MdsShardWriter(Path shard, SortedMap<String, String> columns) throws IOException {
        this.shard = shard;
        this.names = List.copyOf(columns.keySet());
        this.encodings = columns.values().stream().map(MdsEncoding::of).toList();
        this.fixedBytes = new long[names.size()];
        List<@Nullable Object> sizes = new ArrayList<>();
        for (int i = 0; i < fixedBytes.length; i++) {
            MdsEncoding encoding = encodings.get(i);
            fixedBytes[i] = encoding.fixedBytes(encoding.column(names.get(i)).spec());
            sizes.add(fixedBytes[i] < 0 ? null : fixedBytes[i]);
        }
        this.configuration = Json.members("column_encodings", List.copyOf(columns.values()), "column_names", names,
                "column_sizes", sizes, "compression", null, "format", "mds", "hashes", List.of(SHA256),
                "size_limit", null, "version", MdsIndex.VERSION);
        this.header = Json.write(configuration).getBytes(StandardCharsets.UTF_8);
        this.staging = StagingFolder.open(shard);
        try {
            this.samples = new SpoolFile(staging.create(SAMPLES), shard, BUFFER_BYTES);
        } catch (IOException | RuntimeException e) {
            staging.close();
            throw e;
        }
    }

    /**
     * Begins a shard.
     *
     * @param shard its file; {@link #commit} replaces it if it exists
     * @param columns the encodings by the names of the columns, at least one, as MDS names them: {@code int},
     *     {@code str}, {@code jpeg}, {@code ndarray:uint16:3,4}
     * @return the writer, to be closed by the caller
     * @throws IOException if the folder does not exist or cannot be written, or another writer is active
     * @throws IllegalArgumentException if there is no column, or an encoding is invalid; names it
     */
    public static MdsShardWriter create(Path shard, SortedMap<String, String> columns) throws IOException {
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("columns: found none, expected at least one");
        }
        return new MdsShardWriter(shard, columns);
    }

    /**
     * Appends a sample.
     *
     * @param values the stored bytes of each column, in the order of their names; heap or native memory. Numbers are
     *     little-endian
     * @throws IOException if it cannot be written
     * @throws IllegalArgumentException if there are not as many values as columns, a value has another size than its
     *     encoding, or the shard would exceed 4 GiB; says which. Then nothing is appended
     */
    public void write(List<MemorySegment> values) throws IOException {
        if (values.size() != names.size()) {
            throw new IllegalArgumentException(shard + ": found " + values.size() + " values, expected one for each of "
                    + names);
        }
        long bytes = samples.byteSize() + MdsShards.tableBytes(count + 1L) + header.length;
        for (int i = 0; i < fixedBytes.length; i++) {
            long size = values.get(i).byteSize();
            if (fixedBytes[i] >= 0 && size != fixedBytes[i]) {
                throw new IllegalArgumentException(shard + ": sample " + count + ", column '" + names.get(i)
                        + "': found " + size + " bytes, expected " + fixedBytes[i] + " as "
                        + encodings.get(i).text());
            }
            bytes += size + (fixedBytes[i] < 0 ? Integer.BYTES : 0);
        }
        if (bytes > MdsIndex.MAX_SHARD_BYTES) {
            throw new IllegalArgumentException(shard + ": found " + bytes + " bytes with sample " + count
                    + ", expected at most " + MdsIndex.MAX_SHARD_BYTES + " a shard (make more shards)");
        }
        for (int i = 0; i < fixedBytes.length; i++) {
            if (fixedBytes[i] < 0) {
                samples.putInt((int) values.get(i).byteSize());
            }
        }
        for (MemorySegment value : values) {
            samples.put(value, 0, value.byteSize());
        }
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, 2 * count);
        }
        ends[count++] = (int) samples.byteSize();
    }

    /**
     * Publishes the shard, complete and flushed to disk.
     *
     * @param basename the path of the shard in the folder of the index, names separated by slashes
     * @return the shard's entry in the index, for {@link #index}
     * @throws IOException if it cannot be written
     */
    public String commit(String basename) throws IOException {
        String name = shard.getFileName().toString();
        MessageDigest sha256 = Sha256.digest();
        long bytes;
        samples.flush();
        try (SpoolFile file = SpoolFile.observed(staging.create(name), shard, BUFFER_BYTES, sha256::update)) {
            long start = MdsShards.tableBytes(count) + header.length;
            file.putInt(count);
            file.putInt((int) start);
            for (int i = 0; i < count; i++) {
                file.putInt((int) (start + Integer.toUnsignedLong(ends[i])));
            }
            file.put(MemorySegment.ofArray(header), 0, header.length);
            copySamples(file);
            file.force();
            bytes = file.byteSize();
        }
        staging.publish(List.of(name));
        Map<String, @Nullable Object> description = Json.members("raw_data", Json.members("basename", basename,
                "bytes", bytes, "hashes", Json.members(SHA256, Sha256.hex(sha256))), "samples", (long) count,
                "zip_data", null);
        description.putAll(configuration);
        return Json.write(description);
    }

    private void copySamples(SpoolFile target) throws IOException {
        long size = samples.byteSize();
        if (size > 0) {
            try (Arena arena = Arena.ofConfined(); FileChannel file = FileChannel.open(staging.resolve(SAMPLES))) {
                target.put(file.map(MapMode.READ_ONLY, 0, size, arena), 0, size);
            }
        }
    }

    /**
     * {@return the content of the {@code index.json} of a dataset} Whoever writes the file publishes the dataset.
     *
     * @param shards the descriptions of its shards, in order, as {@link #commit} returned them: at least one
     */
    public static String index(List<String> shards) {
        return "{\"shards\":[\n" + String.join(",\n", shards) + "\n],\"version\":" + MdsIndex.VERSION + "}\n";
    }

    /** Ends the writer and deletes what was not committed. Calling it again does nothing. */
    @Override
    public void close() throws IOException {
        try (staging) {
            samples.close();
        }
    }
}
