package io.penstock.store.mds;

import io.penstock.codec.MissingLibraryException;
import io.penstock.memory.MappedFile;
import io.penstock.memory.Span;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.MalformedStoreException;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.StoreFormat;
import io.penstock.store.mapped.DecodedBlocks;
import io.penstock.store.mapped.Fingerprint;
import io.penstock.store.mapped.LittleEndian;
import io.penstock.store.mapped.Mapping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A MosaicML streaming dataset (MDS version 2) in a folder: {@code index.json} and the shards that it names. Samples of
 * plain shards are views of the mappings; a compressed shard, of which there is no plain one beside it, is decoded when
 * a sample of it is located for the first time, into a copy that lives as long as the store.
 *
 * <p>A shard is, little-endian ({@code streaming/base/format/mds/writer.py}):
 *
 * <pre>{@code
 * u32 samples; u32 offsets[samples + 1], from the start of the file; the configuration as JSON; the samples
 * a sample: u32 sizes of the values whose size varies; the values of all columns, one behind the other, unaligned
 * }</pre>
 *
 * <p>Numbers, and arrays of one type and shape, are columns of numbers; {@code str}, {@code str_int},
 * {@code str_float}, {@code str_decimal} and {@code json} are text; anything else is bytes of that encoding. Arrays
 * whose shape is a matter of each value are bytes too, which {@link NdarrayValue} reads. A pickle is never opened.
 */
public final class MdsStore implements RecordStore {

    /** The name of the index. */
    public static final String INDEX_NAME = "index.json";

    private final MdsIndex index;
    private final MappedFile indexFile;
    /** The mapping of each plain shard; null of a compressed one. */
    private final MappedFile[] files;
    /** The block of each compressed shard in {@link #decoded}. */
    private final int[] blockOf;
    private final DecodedBlocks decoded;
    /** The first sample of each shard, and one more: the number of samples. */
    private final long[] firstOf;
    private final List<Column> columns;
    /** Of each column told, its position in a sample. */
    private final int[] positionOf;
    /** Bytes of each value of a sample; -1 if it varies. */
    private final long[] fixedBytes;
    private final int variables;
    private volatile String fingerprint;

    private MdsStore(MdsIndex index, MappedFile indexFile, MappedFile[] files, int[] blockOf, DecodedBlocks decoded,
            int[] positionOf) {
        this.index = index;
        this.indexFile = indexFile;
        this.files = files;
        this.blockOf = blockOf;
        this.decoded = decoded;
        this.positionOf = positionOf;
        this.columns = Arrays.stream(positionOf).mapToObj(index::column).toList();
        this.firstOf = new long[files.length + 1];
        for (int shard = 0; shard < files.length; shard++) {
            firstOf[shard + 1] = firstOf[shard] + index.shards().get(shard).samples();
        }
        this.fixedBytes = new long[index.names().size()];
        int varying = 0;
        for (int i = 0; i < fixedBytes.length; i++) {
            fixedBytes[i] = index.encodings().get(i).fixedBytes(index.column(i).spec());
            varying += fixedBytes[i] < 0 ? 1 : 0;
        }
        this.variables = varying;
    }

    /**
     * Whether a file begins as an index does.
     *
     * @param head its first bytes
     * @return true if they are an object of JSON with the name {@code shards} in it
     */
    public static boolean isIndex(byte[] head) {
        String text = new String(head, StandardCharsets.ISO_8859_1).strip();
        return text.startsWith("{") && text.contains("\"shards\"");
    }

    /**
     * Opens and checks a dataset: the index, and of each shard its size and the ends of its table of samples.
     *
     * @param path its folder, or the {@code index.json} in it
     * @param columns the names of the columns that are wanted, in the order that is wanted; null for all, in the order
     *     of their names. A column of pickles cannot be had, so all but that one must be named
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the index is malformed, names files outside of the folder, or a shard is
     *     missing or of another size; if a column is a pickle or is not there; if shards are compressed by anything but
     *     zstd and gz
     * @throws MissingLibraryException if shards are compressed by zstd and zstd-jni is not there
     * @throws IOException if there is no index, or a file cannot be read
     */
    public static MdsStore open(Path path, List<String> columns) throws IOException {
        Path file = Files.isDirectory(path) ? path.resolve(INDEX_NAME) : path;
        return Mapping.open(file, indexFile -> open(MdsIndex.read(file), indexFile, columns));
    }

    private static MdsStore open(MdsIndex index, MappedFile indexFile, List<String> columns) throws IOException {
        int[] positions = positions(index, columns);
        MappedFile[] files = new MappedFile[index.shards().size()];
        DecodedBlocks decoded = null;
        try {
            List<MdsShard> packed = new ArrayList<>();
            int[] blockOf = new int[files.length];
            for (int i = 0; i < files.length; i++) {
                MdsShard shard = index.shards().get(i);
                if (Files.exists(shard.raw().path())) {
                    checkSize(shard.raw());
                    files[i] = Mapping.open(shard.raw().path(), file -> {
                        checkTable(shard, file.path(), file.segment());
                        return file;
                    });
                } else if (shard.zip() != null && Files.exists(shard.zip().path())) {
                    checkSize(shard.zip());
                    blockOf[i] = packed.size();
                    packed.add(shard);
                } else {
                    throw new MalformedStoreException(shard.raw().path(), "no such file", "shard " + i + " of the "
                            + files.length + " that " + index.file() + " names");
                }
            }
            decoded = packed.isEmpty() ? null : decoded(index, packed);
            return new MdsStore(index, indexFile, files, blockOf, decoded, positions);
        } catch (Throwable t) {
            close(files, decoded);
            throw t;
        }
    }

    private static int[] positions(MdsIndex index, List<String> columns) throws MalformedStoreException {
        List<String> wanted = columns == null ? index.names() : columns;
        int[] positions = new int[wanted.size()];
        for (int i = 0; i < positions.length; i++) {
            positions[i] = index.names().indexOf(wanted.get(i));
            if (positions[i] < 0) {
                throw new MalformedStoreException(index.file(), "no column '" + wanted.get(i) + "'",
                        "one of " + index.names());
            }
            if (index.encodings().get(positions[i]).base().equals(MdsEncoding.PICKLE)) {
                throw new MalformedStoreException(index.file(), "column '" + wanted.get(i)
                        + "' of pickles, which are code and never opened", "any other encoding (leave the column out)");
            }
        }
        if (positions.length == 0) {
            throw new IllegalArgumentException("no columns");
        }
        return positions;
    }

    private static void checkSize(MdsShard.Part part) throws IOException {
        long bytes = Files.isRegularFile(part.path()) ? Files.size(part.path()) : -1;
        if (bytes != part.bytes()) {
            throw new MalformedStoreException(part.path(), bytes < 0 ? "no regular file" : bytes + " bytes",
                    part.bytes() + " bytes, as the index has it");
        }
    }

    /** Checks the ends of a shard's table; what is between them is checked as it is used. */
    private static void checkTable(MdsShard shard, Path file, MemorySegment bytes) throws MalformedStoreException {
        long samples = bytes.byteSize() < Integer.BYTES ? -1 : u32(bytes, 0);
        if (samples != shard.samples()) {
            throw new MalformedStoreException(file, 0, samples + " samples", shard.samples()
                    + ", as the index has it");
        }
        long tableBytes = tableBytes(samples);
        if (tableBytes > bytes.byteSize() || u32(bytes, 4) < tableBytes
                || u32(bytes, tableBytes - 4) != bytes.byteSize()) {
            throw new MalformedStoreException(file, Math.min(4, bytes.byteSize()), "a table of " + samples
                    + " samples that does not fit", "samples behind it, up to the " + bytes.byteSize()
                    + " bytes of the shard");
        }
    }

    private static long tableBytes(long samples) {
        return 4 * (samples + 2);
    }

    private static DecodedBlocks decoded(MdsIndex index, List<MdsShard> packed) throws IOException {
        long[] sizes = new long[packed.size()];
        String[] algorithms = new String[sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = packed.get(i).raw().bytes();
            algorithms[i] = MdsDecompression.algorithm(index, packed.get(i));
        }
        MdsDecompression.check(packed.getFirst(), algorithms[0]);
        return DecodedBlocks.create(index.file(), sizes, (block, target) -> {
            MdsShard shard = packed.get(block);
            MdsDecompression.decode(shard, algorithms[block], target);
            checkTable(shard, shard.zip().path(), target);
        });
    }

    MdsIndex index() {
        return index;
    }

    @Override
    public long size() {
        return firstOf[files.length];
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    MdsEncoding encoding(int column) {
        return index.encodings().get(positionOf[column]);
    }

    @Override
    public void locate(long record, int column, Span into) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(index.file() + ": sample " + record + " of " + size());
        }
        int position = positionOf[Objects.checkIndex(column, positionOf.length)];
        int shard = shardOf(record);
        try {
            locate(shard, record - firstOf[shard], position, into);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InternalError fault) {
            if (files[shard] != null) {
                files[shard].checkSize();
            }
            throw fault;
        }
    }

    private int shardOf(long record) {
        int low = 0;
        int high = files.length - 1;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (firstOf[middle] <= record) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    private void locate(int shard, long sample, int position, Span into) throws MalformedStoreException {
        locate(shard, into);
        MemorySegment bytes = into.segment();
        long base = into.byteOffset();
        long begin = u32(bytes, base + 4 + 4 * sample);
        long end = u32(bytes, base + 8 + 4 * sample);
        long heads = begin + 4L * variables;
        if (begin < tableBytes(index.shards().get(shard).samples()) || heads > end || end > into.byteSize()) {
            throw malformed(shard, 4 + 4 * sample, "sample " + sample + " from byte " + begin + " to " + end,
                    "behind the table, within the shard's " + into.byteSize() + " bytes, at least "
                    + 4L * variables + " bytes long");
        }
        long size = base + begin;
        long at = heads;
        long start = 0;
        long length = 0;
        for (int i = 0; i < fixedBytes.length; i++) {
            long valueBytes = fixedBytes[i];
            if (valueBytes < 0) {
                valueBytes = u32(bytes, size);
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
        into.setPart(into, start, length);
    }

    private void locate(int shard, Span into) {
        if (files[shard] != null) {
            into.set(files[shard], 0, files[shard].byteSize());
        } else {
            decoded.locate(blockOf[shard], 0, decoded.byteSize(blockOf[shard]), into);
        }
    }

    private static long u32(MemorySegment bytes, long offset) {
        return bytes.get(LittleEndian.I32, offset) & 0xFFFF_FFFFL;
    }

    private MalformedStoreException malformed(int shard, long offset, String found, String expected) {
        return new MalformedStoreException(fileOf(shard), offset, found, expected);
    }

    private Path fileOf(int shard) {
        MdsShard described = index.shards().get(shard);
        return files[shard] != null ? described.raw().path() : described.zip().path();
    }

    /** The file of a sample's shard and the sample's number in it. */
    @Override
    public String name(long record) {
        int shard = shardOf(Objects.checkIndex(record, size()));
        return index.shards().get(shard).raw().name() + "[" + (record - firstOf[shard]) + "]";
    }

    /** True if a shard is decoded, whatever the column. */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        return decoded != null;
    }

    /**
     * Checks the digests that the index has, of the files that there are: the plain shard or, if there is none, the
     * compressed one. Nothing else checks them.
     *
     * @param progress told the bytes that are read
     * @return what was checked
     * @throws MalformedStoreException if a digest is another
     * @throws IOException if a file cannot be read
     */
    public MdsVerification verify(Progress progress) throws IOException {
        List<MdsShard.Part> parts = new ArrayList<>();
        for (int i = 0; i < files.length; i++) {
            parts.add(files[i] != null ? index.shards().get(i).raw() : index.shards().get(i).zip());
        }
        return MdsVerification.of(parts, progress);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint().add(indexFile);
            try {
                add(sample, 0);
                add(sample, files.length - 1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            fingerprint = "mds:samples=" + size() + ":columns=" + columns.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    private void add(Fingerprint sample, int shard) throws IOException {
        if (files[shard] != null) {
            sample.add(files[shard]);
        } else {
            try (MappedFile packed = MappedFile.open(fileOf(shard))) {
                sample.add(packed);
            }
        }
    }

    @Override
    public Inspection inspect(boolean digest, Progress progress) throws IOException {
        List<Path> paths = new ArrayList<>(List.of(index.file()));
        for (int shard = 0; shard < files.length; shard++) {
            paths.add(fileOf(shard));
        }
        return new Inspection(index.file(), StoreFormat.MDS.toString(), paths,
                new MdsInspection(this).details(digest, progress));
    }

    @Override
    public void close() {
        indexFile.close();
        close(files, decoded);
    }

    private static void close(MappedFile[] files, DecodedBlocks decoded) {
        for (MappedFile file : files) {
            if (file != null) {
                file.close();
            }
        }
        if (decoded != null) {
            decoded.close();
        }
    }

    @Override
    public String toString() {
        return index.file() + " (" + size() + " samples in " + files.length + " shards)";
    }
}
