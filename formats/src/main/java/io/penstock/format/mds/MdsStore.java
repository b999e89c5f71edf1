// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.error.LibraryException;
import io.penstock.error.LimitException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.NdarrayValue;
import io.penstock.internal.PrefixSums;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.integrity.Verifiable;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A MosaicML streaming dataset (MDS version 2) in a folder: {@code index.json} and its shards. Samples of plain shards
 * are views of the mappings. A compressed shard without a plain one next to it is decoded when one of its samples is
 * first located, into a copy that lives as long as the store.
 *
 * <p>A shard is, little-endian ({@code streaming/base/format/mds/writer.py}):
 *
 * <pre>{@code
 * u32 samples; u32 offsets[samples + 1], from the start of the file; the configuration as JSON; the samples
 * a sample: u32 sizes of the values whose size varies; the values of all columns, one behind the other, unaligned
 * }</pre>
 *
 * <p>Numbers, and arrays of one type and shape, are columns of numbers; {@code str}, {@code str_int},
 * {@code str_float}, {@code str_decimal} and {@code json} are text; anything else is bytes of that encoding. Arrays of
 * varying shape are bytes too, which {@link NdarrayValue} reads. Pickles are never opened.
 */
public final class MdsStore implements RecordStore, Verifiable {

    /** The name of the index. */
    public static final String INDEX_NAME = "index.json";

    private final MdsIndex index;
    private final MappedFile indexFile;
    private final MdsShards shards;
    private final PrefixSums records;
    private final List<Column> columns;
    /** The position of each column's value in a sample. */
    private final int[] positionOf;
    /** The size of each value of a sample; -1 if it varies. */
    private final long[] fixedBytes;
    /** For each shard the positions of the columns of a sample's values, in their order. */
    private final int[][] orders;
    /** For each shard the number of values whose size varies. */
    private final int[] variables;
    private volatile @Nullable String fingerprint;

    private MdsStore(MdsIndex index, MappedFile indexFile, DecodeLimit limit, int[] positionOf) throws IOException {
        this.index = index;
        this.indexFile = indexFile;
        this.positionOf = positionOf;
        this.columns = Arrays.stream(positionOf).mapToObj(index::column).toList();
        this.records = PrefixSums.ofLengths(index.shards().size(), shard -> index.shards().get(shard).samples());
        this.fixedBytes = IntStream.range(0, index.names().size())
                .mapToLong(i -> index.encodings().get(i).fixedBytes(index.column(i).spec())).toArray();
        this.orders = index.shards().stream().map(shard -> shard.columns().stream().mapToInt(i -> i).toArray())
                .toArray(int[][]::new);
        this.variables = Arrays.stream(orders).mapToInt(order -> (int) Arrays.stream(order)
                .filter(i -> fixedBytes[i] < 0).count()).toArray();
        this.shards = MdsShards.open(index, limit);         // last: nothing that fails behind it leaves them open
    }

    /**
     * Opens a dataset; checks the index, the size of each shard, and both ends of its table of samples.
     *
     * @param path its folder, or the {@code index.json} in it
     * @param columns the names of the columns to open, in that order; null for all but those of pickles, in the order
     *     of their names. A column of pickles cannot be opened
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the index is malformed or names files outside of the folder; if a shard is
     *     missing, of another size, or compressed by anything but zstd and gz; if a column is missing or a pickle
     * @throws LibraryException if shards are compressed by zstd and zstd-jni is missing
     * @throws IOException if a file is missing or cannot be read
     */
    public static MdsStore open(Location path, @Nullable List<String> columns) throws IOException {
        return open(path, columns, DecodeLimit.DEFAULT);
    }

    /**
     * Opens a dataset with a decode limit, as {@link #open(Location, List)} does.
     *
     * @param path its folder, or the {@code index.json} in it
     * @param columns the names of the columns to open; null for all
     * @param limit the most that each shard may decode to
     * @return the store, to be closed by the caller
     * @throws LimitException if the index declares a larger shard
     * @throws IOException if a file is malformed, missing, or cannot be read
     */
    public static MdsStore open(Location path, @Nullable List<String> columns, DecodeLimit limit) throws IOException {
        Location file = path.isFolder() ? path.resolve(INDEX_NAME) : path;
        return Mapping.open(file, indexFile -> {
            MdsIndex index = MdsIndex.read(file);
            int[] positions = positions(index, columns);
            return new MdsStore(index, indexFile, limit, positions);
        });
    }

    private static int[] positions(MdsIndex index, @Nullable List<String> columns) {
        List<String> wanted = columns != null ? columns
                : index.names().stream().filter(name -> !isPickle(index, name)).toList();
        if (wanted.isEmpty() && columns == null) {
            throw new MalformedStoreException(index.file(), "no column but " + index.names()
                    + " of pickles, which are code and never opened", "one of any other encoding");
        }
        int[] positions = new int[wanted.size()];
        for (int i = 0; i < positions.length; i++) {
            positions[i] = index.names().indexOf(wanted.get(i));
            if (positions[i] < 0) {
                throw new MalformedStoreException(index.file(), "no column '" + wanted.get(i) + "'",
                        "one of " + index.names());
            }
            if (isPickle(index, wanted.get(i))) {
                throw new MalformedStoreException(index.file(), "column '" + wanted.get(i)
                        + "' of pickles, which are code and never opened", "any other encoding (leave the column out)");
            }
        }
        if (positions.length == 0) {
            throw new IllegalArgumentException("no columns");
        }
        return positions;
    }

    private static boolean isPickle(MdsIndex index, String column) {
        return index.encodings().get(index.names().indexOf(column)).base().equals(MdsEncoding.PICKLE);
    }

    MdsIndex index() {
        return index;
    }

    @Override
    public Map<String, String> unreadColumns() {
        return index.names().stream().filter(name -> isPickle(index, name)).collect(Collectors.toMap(name -> name,
                _ -> "pickles, which are code and never opened"));
    }

    @Override
    public long size() {
        return records.total();
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    MdsEncoding encoding(int column) {
        return index.encodings().get(positionOf[column]);
    }

    /** {@inheritDoc} A shard may lack a column. */
    @Override
    public boolean isPresent(long record, int column) {
        Objects.checkIndex(record, size());
        int position = positionOf[column];
        int[] order = orders[records.runOf(record)];
        boolean isPresent = order.length == fixedBytes.length;
        for (int i = 0; !isPresent && i < order.length; i++) {
            isPresent = order[i] == position;
        }
        return isPresent;
    }

    @Override
    public void locate(long record, int column, Span into) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(index.file() + ": sample " + record + " of " + size());
        }
        int position = positionOf[Objects.checkIndex(column, positionOf.length)];
        int shard = records.runOf(record);
        try {
            locate(shard, record - records.start(shard), position, into);
        } catch (InternalError fault) {
            MappedFile file = shards.file(shard);
            throw file == null ? fault : file.explain(fault);
        }
    }

    private void locate(int shard, long sample, int position, Span into) {
        shards.locate(shard, into);
        MappedFile file = shards.file(shard);
        MemorySegment bytes = file == null ? into.segment() : file.mapping();
        require(file, 4 + 4 * sample, 2 * Integer.BYTES);
        long base = into.byteOffset();
        long begin = MdsShards.u32(bytes, base + 4 + 4 * sample);
        long end = MdsShards.u32(bytes, base + 8 + 4 * sample);
        long heads = begin + 4L * variables[shard];
        if (begin < MdsShards.tableBytes(index.shards().get(shard).samples()) || heads > end || end > into.byteSize()) {
            throw malformed(shard, 4 + 4 * sample, "sample " + sample + " from byte " + begin + " to " + end,
                    "after the table, within the shard's " + into.byteSize() + " bytes, at least "
                    + 4L * variables[shard] + " bytes long");
        }
        require(file, begin, end - begin);
        long size = base + begin;
        long at = heads;
        long start = 0;
        long length = -1;
        for (int i : orders[shard]) {
            long valueBytes = fixedBytes[i];
            if (valueBytes < 0) {
                valueBytes = MdsShards.u32(bytes, size);
                size += 4;
            }
            if (i == position) {
                start = at;
                length = valueBytes;
            }
            at += valueBytes;
        }
        if (at != end) {
            throw malformed(shard, begin, "values of " + (at - begin) + " bytes with their sizes", (end - begin)
                    + ", which the sample has");
        }
        if (length < 0) {
            throw malformed(shard, begin, "no value of '" + index.names().get(position)
                    + "': the shard has no such column", "one of the columns of the shard");
        }
        into.setPart(into, start, length);
    }

    private static void require(@Nullable MappedFile plain, long offset, long bytes) {
        if (plain != null) {
            plain.require(offset, bytes);
        }
    }

    private MalformedStoreException malformed(int shard, long offset, String found, String expected) {
        return new MalformedStoreException(shards.parts().get(shard).path(), offset, found, expected);
    }

    /** Returns the file of the sample's shard and the sample's number in it. */
    @Override
    public String name(long record) {
        int shard = records.runOf(record);
        return index.shards().get(shard).raw().name() + "[" + (record - records.start(shard)) + "]";
    }

    /** Returns true if any shard is decoded, whatever the column. */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        return shards.isAnyDecoded();
    }

    @Override
    public @Nullable String checksum() {
        return MdsHashes.areIn(shards.parts()) ? MdsHashes.CHECK : null;
    }

    /** {@return the index, and the shards without a digest that can be checked} */
    @Override
    public Set<Location> uncovered() {
        Set<Location> uncovered = new HashSet<>(Set.of(index.file()));
        shards.parts().stream().filter(part -> !MdsHashes.areIn(List.of(part))).forEach(part ->
                uncovered.add(part.path()));
        return uncovered;
    }

    /**
     * Compares the shards' files with the digests in the index: the plain file of a shard or, if there is none, the
     * compressed one. Algorithms of the JDK and xxh64 are checked; others are ignored.
     *
     * @param faults receives each mismatch
     * @param progress receives the bytes read
     * @throws IOException if a file cannot be read
     */
    @Override
    public void verify(Consumer<Fault> faults, Progress progress) throws IOException {
        MdsHashes.verify(shards.parts(), faults, progress);
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            Fingerprint sample = new Fingerprint().add(indexFile);
            add(sample, 0);
            add(sample, shards.parts().size() - 1);
            known = "mds:samples=" + size() + ":columns=" + columns.size() + ":sha256=" + sample.hex();
            fingerprint = known;
        }
        return known;
    }

    private void add(Fingerprint sample, int shard) {
        MappedFile plain = shards.file(shard);
        if (plain != null) {
            sample.add(plain);
            return;
        }
        try (MappedFile packed = shards.parts().get(shard).path().open()) {
            sample.add(packed);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        List<Location> paths = new ArrayList<>(List.of(index.file()));
        shards.parts().forEach(part -> paths.add(part.path()));
        return new Inspection(index.file(), "mds", paths, new MdsInspection(this).details(depth.digests(), progress));
    }

    @Override
    public void close() {
        indexFile.close();
        shards.close();
    }

    @Override
    public String toString() {
        return index.file() + " (" + size() + " samples in " + shards.parts().size() + " shards)";
    }
}
