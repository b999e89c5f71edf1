package io.penstock.format.webdataset;

import io.penstock.codec.DecodeLimit;
import io.penstock.codec.DecodeLimitException;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Generation;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Sha256;
import io.penstock.io.Span;
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
 * <p>A tar has no index: opening builds it once, with one thread per processor, and keeps it as a sidecar as
 * {@link IndexUse} says. It takes 8 bytes per sample and 12 per file of native memory. A compressed shard is decoded
 * once for its index, and again, into an unnamed file, when one of its samples is first located.
 */
public final class WebDatasetStore implements RecordStore {

    private static final int HEX_DIGITS = 32;
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]");

    private final List<Location> paths;
    private final Arena arena;
    private final Shard[] shards;
    private final PrefixSums records;
    private final List<Column> columns;
    /** By shard: the column of each of its suffixes. */
    private final int[][] columnOfSuffix;
    private final AtomicLongArray maxLengths;

    private WebDatasetStore(List<Location> paths, Arena arena, Shard[] shards) throws MalformedStoreException {
        this.paths = paths;
        this.arena = arena;
        this.shards = shards;
        this.records = PrefixSums.ofLengths(shards.length, shard -> shards[shard].index().samples());
        TreeSet<String> suffixes = new TreeSet<>();
        for (int i = 0; i < shards.length; i++) {
            suffixes.addAll(shards[i].index().suffixes());
            if (suffixes.size() > Suffixes.MAX_COUNT) {
                throw new MalformedStoreException(paths.get(i), "more than " + Suffixes.MAX_COUNT
                        + " different suffixes up to this shard", "names whose first dot ends the key");
            }
        }
        List<String> names = List.copyOf(suffixes);
        this.columns = names.stream().map(suffix -> Column.bytes(suffix, suffix)).toList();
        this.columnOfSuffix = new int[shards.length][];
        List<String> before = null;
        for (int i = 0; i < shards.length; i++) {
            List<String> texts = shards[i].index().suffixes();
            columnOfSuffix[i] = texts.equals(before) ? columnOfSuffix[i - 1]
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
     * @throws MalformedStoreException if a shard is not as it should be, or shards are missing
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static WebDatasetStore open(Location path) throws IOException {
        return open(path, DecodeLimit.DEFAULT);
    }

    /**
     * Opens a dataset with a limit of its own.
     *
     * @param path a tar, a folder of tars, or a pattern, as for {@link ShardList#of}
     * @param limit what each compressed shard may decode to
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a shard is not as it should be, or shards are missing
     * @throws DecodeLimitException if a shard decodes to more than the limit
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static WebDatasetStore open(Location path, DecodeLimit limit) throws IOException {
        return Generation.open(path, () -> ShardList.generation(path), () -> {
            List<Location> shards = ShardList.of(path);
            return open(shards, ShardSets.of(shards), IndexUse.SIDECAR, limit);
        });
    }

    /**
     * Opens a dataset of which the shards are known.
     *
     * @param shards the tars, in the order in which their samples are counted; at least one
     * @param use where their indices come from
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if a shard is not as it should be
     * @throws IOException if there is no such file, or it cannot be read
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
     * The suffixes that samples have, in the order of their characters.
     *
     * @return a column each; none if there is no sample
     */
    @Override
    public List<Column> columns() {
        return columns;
    }

    /**
     * The shards, in the order in which their samples are counted.
     *
     * @return their files
     */
    public List<Location> shards() {
        return paths;
    }

    /**
     * Where the samples of a shard begin, for orders that go by shard.
     *
     * @param shard the shard's position in {@link #shards}; their number stands for the end
     * @return the first record of it; equal to the next one's if it has none
     */
    public long firstRecord(int shard) {
        return records.start(shard);
    }

    /**
     * Where shards begin, as block-wise shuffles take it: first records, ascending, and the count of records at the
     * end. Shards without samples are not there.
     *
     * @return the boundaries; at least one, which is 0 if there is no sample
     */
    public long[] shardStarts() {
        return IntStream.rangeClosed(0, shards.length).mapToLong(records::start).distinct().toArray();
    }

    /**
     * The shard that a record is in.
     *
     * @param record the record's index
     * @return the shard's position in {@link #shards}
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
            throw new UncheckedIOException(new MalformedStoreException(paths.get(shard), "the sample '" + key(record)
                    + "' has no '" + columns.get(column).name() + "'", "one in every sample that is read"));
        }
        ShardIndex index = shards[shard].index();
        into.set(shards[shard].tar(), index.dataOffset(member), index.dataBytes(member));
    }

    private long member(int shard, long sample, int column) {
        ShardIndex index = shards[shard].index();
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
     * The key of a sample.
     *
     * @param record the record's index
     * @return folder and name up to the first dot, as in the tar
     * @throws IndexOutOfBoundsException if there is no such record
     * @throws UncheckedIOException if its shard cannot be read
     */
    public String key(long record) {
        int shard = shardOf(record);
        return shards[shard].key(record - records.start(shard));
    }

    /** The key of a sample, and the shard that it is in; one line, whatever the key holds. */
    @Override
    public String name(long record) {
        return CONTROL.matcher(key(record)).replaceAll("\uFFFD") + " of " + paths.get(shardOf(record));
    }

    /** Whether the column has values in a shard that is compressed. */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        for (int i = 0; i < shards.length; i++) {
            if (shards[i].compression() != Compression.NONE
                    && Arrays.stream(columnOfSuffix[i]).anyMatch(c -> c == column)) {
                return true;
            }
        }
        return false;
    }

    /** The greatest size of a suffix's files: looked up in the index by the first call. */
    @Override
    public long maxLength(int column) {
        long known = maxLengths.get(column);
        if (known < 0) {
            known = 0;
            for (int i = 0; i < shards.length; i++) {
                ShardIndex index = shards[i].index();
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
    public Inspection inspect(boolean digest, Progress progress) throws IOException {
        return new Inspection(paths.getFirst(), "webdataset",
                Arrays.stream(shards).map(Shard::path).toList(),
                new WebDatasetInspection(this, shards).details(digest, progress));
    }

    /** Of the shards' sizes, samples of their content, and the count of records. */
    @Override
    public String fingerprint() {
        MessageDigest sha256 = Sha256.digest();
        for (Shard shard : shards) {
            sha256.update(shard.index().content().asByteBuffer());
        }
        for (Column column : columns) {
            sha256.update((column.name() + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return "webdataset:samples=" + size() + ":shards=" + shards.length + ":sha256="
                + Sha256.hex(sha256).substring(0, HEX_DIGITS);
    }

    /** A mapped shard, for tests of what is shared. */
    MappedFile tar(int shard) {
        return shards[shard].tar();
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
}
