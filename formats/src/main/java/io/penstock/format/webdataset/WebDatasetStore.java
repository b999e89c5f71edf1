// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.LimitException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.MissingValue;
import io.penstock.internal.PrefixSums;
import io.penstock.internal.Sha256;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.io.publish.Generation;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The samples of a WebDataset as records, with random access over all shards. Each suffix is a column; its values are
 * the bytes of the files, views of the mapping for plain tars.
 *
 * <p>A tar has no index: opening builds it once, with one thread per processor, and keeps it in a sidecar, as {@link
 * IndexUse} says. It takes 8 bytes per sample and 12 per file of native memory. A compressed shard is decoded once for
 * its index, and again, into an unnamed file, when one of its samples is first located.
 */
public final class WebDatasetStore implements RecordStore {

    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]");

    private final List<Location> paths;
    private final Arena arena;
    private final Shard[] shards;
    private final PrefixSums records;
    private final List<Column> columns;
    /** By shard: the column of each of its suffixes. */
    private final int[][] columnOfSuffix;
    private final AtomicLongArray maxLengths;

    private WebDatasetStore(List<Location> paths, Arena arena, Shard[] shards) {
        this.paths = paths;
        this.arena = arena;
        this.shards = shards;
        this.records = PrefixSums.ofLengths(shards.length, shard -> shards[shard].index.samples());
        TreeSet<String> suffixes = new TreeSet<>();
        for (int i = 0; i < shards.length; i++) {
            suffixes.addAll(shards[i].index.suffixes());
            if (suffixes.size() > Suffixes.MAX_COUNT) {
                throw new MalformedStoreException(paths.get(i), "more than " + Suffixes.MAX_COUNT
                        + " different suffixes up to this shard", "names whose first dot ends the key");
            }
        }
        List<String> names = List.copyOf(suffixes);
        this.columns = names.stream().map(suffix -> Column.bytes(suffix, suffix)).toList();
        this.columnOfSuffix = new int[shards.length][];
        List<String> before = List.of();
        for (int i = 0; i < shards.length; i++) {
            List<String> texts = shards[i].index.suffixes();
            columnOfSuffix[i] = i > 0 && texts.equals(before) ? columnOfSuffix[i - 1]
                    : texts.stream().mapToInt(text -> Collections.binarySearch(names, text)).toArray();
            before = texts;
        }
        this.maxLengths = new AtomicLongArray(columns.size());
        for (int i = 0; i < columns.size(); i++) {
            maxLengths.set(i, -1);
        }
    }

    /**
     * Opens a dataset.
     *
     * @param path a tar, a folder of tars, or a pattern, as for {@link ShardList#of}
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a shard is malformed, or shards are missing
     * @throws IOException if a file is missing or cannot be read
     */
    public static WebDatasetStore open(Location path) throws IOException {
        return open(path, DecodeLimit.DEFAULT);
    }

    /**
     * Opens a dataset with a decode limit.
     *
     * @param path a tar, a folder of tars, or a pattern, as for {@link ShardList#of}
     * @param limit the most that each compressed shard may decode to
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a shard is malformed, or shards are missing
     * @throws LimitException if a shard decodes to more than the limit
     * @throws IOException if a file is missing or cannot be read
     */
    public static WebDatasetStore open(Location path, DecodeLimit limit) throws IOException {
        return Generation.open(path, () -> ShardList.generation(path), () -> {
            List<Location> shards = ShardList.of(path);
            return open(shards, ShardSets.of(shards), IndexUse.SIDECAR, limit);
        });
    }

    /**
     * Opens a dataset of given shards.
     *
     * @param shards the tars, at least one; samples are numbered in their order
     * @param use the source of their indices
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a shard is malformed
     * @throws IOException if a file is missing or cannot be read
     */
    public static WebDatasetStore open(List<Location> shards, IndexUse use) throws IOException {
        if (shards.isEmpty()) {
            throw new IllegalArgumentException("no shards");
        }
        return Generation.open(shards.getFirst(), () -> ShardSets.of(shards).generation(),
                () -> open(shards, ShardSets.of(shards), use, DecodeLimit.DEFAULT));
    }

    private static WebDatasetStore open(List<Location> shards, ShardSets sets, IndexUse use, DecodeLimit limit)
            throws IOException {
        Arena arena = Arena.ofShared();
        Shard[] opened = null;
        try {
            opened = ParallelOpening.open(shards, use, limit, arena);
            sets.check(opened);
            return new WebDatasetStore(List.copyOf(shards), arena, opened);
        } catch (Throwable t) {
            if (opened != null) {
                Arrays.stream(opened).forEach(Shard::close);
            }
            arena.close();
            throw t;
        }
    }

    @Override
    public long size() {
        return records.total();
    }

    /**
     * {@return a column for each suffix that samples have, in the order of their characters; none if there is no
     * sample}
     */
    @Override
    public List<Column> columns() {
        return columns;
    }

    /** {@return the shards, in the order in which their samples are counted} */
    public List<Location> shards() {
        return paths;
    }

    /**
     * {@return the first record of a shard, for orders that go by shard; equal to the next one's if the shard has none}
     *
     * @param shard the shard's position in {@link #shards}; the number of shards gives the end
     */
    public long firstRecord(int shard) {
        return records.start(shard);
    }

    /**
     * {@return the first record of each shard that has samples, ascending, and the count of records at the end: the
     * boundaries for block-wise shuffles} Shards without samples are left out.
     */
    public long[] shardStarts() {
        return IntStream.rangeClosed(0, shards.length).mapToLong(records::start).distinct().toArray();
    }

    /**
     * {@return the position in {@link #shards} of the shard that a record is in}
     *
     * @param record the record's index
     * @throws IndexOutOfBoundsException if there is no such record
     */
    public int shardOf(long record) {
        return records.runOf(record);
    }

    @Override
    public boolean isPresent(long record, int column) {
        Objects.checkIndex(column, columns.size());
        int shard = shardOf(record);
        return member(shard, record - records.start(shard), column) >= 0;
    }

    @Override
    public void locate(long record, int column, Span into) {
        Objects.checkIndex(column, columns.size());
        int shard = shardOf(record);
        long member = member(shard, record - records.start(shard), column);
        if (member < 0) {
            throw new MalformedStoreException(paths.get(shard), "the sample '" + key(record)
                    + "' has no '" + columns.get(column).name() + "'", "one in every sample that is read; "
                    + MissingValue.LEFT_OUT);
        }
        ShardIndex index = shards[shard].index;
        into.set(shards[shard].tar(), index.dataOffset(member), index.dataBytes(member));
    }

    private long member(int shard, long sample, int column) {
        ShardIndex index = shards[shard].index;
        int[] columnOf = columnOfSuffix[shard];
        long end = index.firstMember(sample + 1);
        for (long member = index.firstMember(sample); member < end; member++) {
            if (columnOf[index.suffix(member)] == column) {
                return member;
            }
        }
        return -1;
    }

    /**
     * {@return the key of a sample: folder and name up to the first dot, as in the tar}
     *
     * @param record the record's index
     * @throws IndexOutOfBoundsException if there is no such record
     * @throws UncheckedIOException if its shard cannot be read
     */
    @Override
    public String key(long record) {
        int shard = shardOf(record);
        return shards[shard].key(record - records.start(shard));
    }

    /** {@return the key of a sample and its shard, in one line} */
    @Override
    public String name(long record) {
        return CONTROL.matcher(key(record)).replaceAll("\uFFFD") + " of " + paths.get(shardOf(record));
    }

    @Override
    public Keys keys() {
        return Keys.NAMES;
    }

    /** {@return whether the column has values in a compressed shard} */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        for (int i = 0; i < shards.length; i++) {
            if (shards[i].compression != Compression.NONE
                    && Arrays.stream(columnOfSuffix[i]).anyMatch(c -> c == column)) {
                return true;
            }
        }
        return false;
    }

    /** {@return the greatest size of a suffix's files} The first call reads all indices. */
    @Override
    public long maxLength(int column) {
        long known = maxLengths.get(column);
        if (known < 0) {
            known = 0;
            for (int i = 0; i < shards.length; i++) {
                ShardIndex index = shards[i].index;
                for (long member = 0; member < index.members(); member++) {
                    if (columnOfSuffix[i][index.suffix(member)] == column) {
                        known = Math.max(known, index.dataBytes(member));
                    }
                }
            }
            maxLengths.set(column, known);
        }
        return known;
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        return new Inspection(paths.getFirst(), "webdataset",
                Arrays.stream(shards).map(shard -> shard.path).toList(),
                new WebDatasetInspection(this, shards).details(depth.digests(), progress));
    }

    /** {@return a fingerprint of the shards' sizes, samples of their content, and the number of records} */
    @Override
    public String fingerprint() {
        MessageDigest sha256 = Sha256.digest();
        for (Shard shard : shards) {
            sha256.update(shard.index.content().asByteBuffer());
        }
        for (Column column : columns) {
            sha256.update((column.name() + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return "webdataset:samples=" + size() + ":shards=" + shards.length + ":sha256=" + Sha256.shortHex(sha256);
    }

    @Override
    public void close() {
        for (Shard shard : shards) {
            shard.close();
        }
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    @Override
    public String toString() {
        return "WebDatasetStore[" + paths.getFirst() + (paths.size() > 1 ? " and " + (paths.size() - 1) + " more" : "")
                + ", " + size() + " samples]";
    }

    /** The source of shard indices, and whether they are saved. */
    public enum IndexUse {
        /**
         * Read the sidecar file beside the shard. If there is no valid one, build the index, and write the file unless
         * the folder is read-only or the shard is small.
         */
        SIDECAR,
        /** Read the sidecar file if there is a valid one; write nothing. */
        READ_ONLY,
        /** Build indices at each open and keep them in memory; neither read nor write sidecar files. */
        MEMORY
    }
}
