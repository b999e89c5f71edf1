// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.TensorFiles;
import io.penstock.internal.Sha256;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The datasets of an HDF5 file, or of one of its groups, by their absolute paths: {@code /train/images}.
 *
 * <p>A dataset of numbers that is stored little-endian in one piece is a view of the mapping. One that is chunked,
 * filtered, big-endian or not yet written is decoded into a copy, some rows of chunks at a time, when one of these rows
 * is located. Datasets of other types or of unsupported layouts are not tensors: {@link #inspect} lists them, and they
 * are {@link #unread}.
 */
final class Hdf5Store implements TensorStore {

    private final MappedFile file;
    private final Superblock superblock;
    private final @Nullable String member;
    private final ObjectTree tree;
    private final List<StoredDataset> datasets;
    private final List<TensorSpec> specs;
    /** For each tensor, its offset in the file; -1 if it is decoded. */
    private final long[] inPlace;
    private final DecodedTensors decoded;
    private volatile @Nullable String fingerprint;

    private Hdf5Store(MappedFile file, @Nullable String member, DecodeLimit limit) throws IOException {
        this.file = file;
        this.member = member;
        this.superblock = Superblock.read(file);
        this.tree = ObjectTree.read(superblock, member);
        if (member != null && tree.datasets().size() == 1 && tree.datasets().getFirst().refusal() != null) {
            StoredDataset only = tree.datasets().getFirst();
            throw new MalformedStoreException(file.location(), only.name() + ": " + only.refusal(),
                    "a dataset of numbers");
        }
        this.datasets = tree.datasets().stream().filter(dataset -> dataset.tensor() != null).toList();
        this.specs = datasets.stream().map(StoredDataset::spec).toList();
        this.inPlace = new long[datasets.size()];
        for (int i = 0; i < inPlace.length; i++) {
            inPlace[i] = datasets.get(i).inPlace(superblock.space());
        }
        this.decoded = new DecodedTensors(superblock.space(), datasets, inPlace, limit);
    }

    /**
     * Opens a file and reads the headers of all its objects.
     *
     * @param member the path of a dataset, or of a group for the datasets below it; may contain soft links; null for
     *     all
     * @param limit what the file may decode to; a dataset beyond it fails when it is read
     */
    static Hdf5Store open(Location path, @Nullable String member, DecodeLimit limit) throws IOException {
        return Mapping.open(path, file -> new Hdf5Store(file, member, limit));
    }

    @Override
    public List<TensorSpec> tensors() {
        return specs;
    }

    @Override
    public Tensor tensor(int index) {
        TensorSpec spec = specs.get(index);
        Span all = new Span();
        locate(index, 0, TensorFiles.rowCount(spec), all);
        return Tensor.of(all.slice(), spec.dtype(), spec.shape());
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        TensorSpec spec = specs.get(index);
        TensorFiles.checkRows(file.location(), spec, firstRow, rows);
        if (inPlace[index] >= 0) {
            long rowBytes = spec.rowBytes();
            into.set(file, inPlace[index] + firstRow * rowBytes, rows * rowBytes);
        } else {
            decoded.locate(index, firstRow, rows, into);
        }
    }

    /** {@inheritDoc} Null for a decoded tensor: only some of its rows may be needed. */
    @Override
    public @Nullable Rows rows(int index) {
        return inPlace[index] < 0 ? null : TensorStore.super.rows(index);
    }

    @Override
    public boolean isConverted(int index) {
        return inPlace[index] < 0;
    }

    /** Not checked for nulls: of a record's canonical constructor, class files do not say that a map may have some. */
    @SuppressWarnings("NullAway")
    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        Map<String, @Nullable Object> details = Json.members("superblock_version", superblock.version(),
                "superblock_offset", superblock.offset());
        if (!tree.attributes().isEmpty()) {
            details.put("attributes", tree.attributes());
        }
        List<Map<String, @Nullable Object>> others = others().map(Hdf5Store::describeOther).toList();
        if (!others.isEmpty()) {
            details.put("other_datasets", others);
        }
        long total = specs.stream().mapToLong(TensorSpec::byteSize)
                .reduce(0, (a, b) -> a + Math.min(b, Long.MAX_VALUE - a));
        List<Inspection.Array> arrays = new ArrayList<>();
        long before = 0;
        for (int i = 0; i < specs.size(); i++) {
            TensorSpec spec = specs.get(i);
            StoredDataset dataset = datasets.get(i);
            String sha256 = depth.digests() ? sha256(i, before, total, progress) : null;
            arrays.add(new Inspection.Array(spec.name(), spec.dtype(), dataset.type().name(),
                    LongStream.of(spec.shape()).boxed().toList(), null, spec.byteSize(), sha256, null,
                    dataset.details()));
            before += spec.byteSize();
        }
        return new Inspection(file.location(), "hdf5", List.of(file.location()), details, arrays);
    }

    private Stream<StoredDataset> others() {
        return tree.datasets().stream().filter(dataset -> dataset.tensor() == null);
    }

    @Override
    public String nameOf(String name) {
        return name.startsWith("/") ? name : "/" + name;
    }

    @Override
    public Map<String, String> unread() {
        Map<String, String> unread = new LinkedHashMap<>();
        others().forEach(dataset -> unread.put(dataset.name(), String.valueOf(dataset.refusal())));
        return unread;
    }

    private static Map<String, @Nullable Object> describeOther(StoredDataset dataset) {
        return Json.members("name", dataset.name(), "stored_as", dataset.type().name(),
                "shape", LongStream.of(dataset.dataspace().shape()).boxed().toList(), "refused", dataset.refusal());
    }

    /** Digests a tensor; does not keep decoded bands. */
    private String sha256(int index, long before, long total, Progress progress) throws IOException {
        if (inPlace[index] >= 0) {
            return Sha256.hex(tensor(index).segment(), done -> progress.update(before + done, total));
        }
        DecodedTensor tensor = decoded.tensor(index);
        MessageDigest sha256 = Sha256.digest();
        long done = before;
        for (long band = 0; band < tensor.bands(); band++) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(tensor.bandBytes(band));
                tensor.decode(band, bytes);
                sha256.update(bytes.asByteBuffer());
                done += bytes.byteSize();
                progress.update(done, total);
            } catch (OutOfMemoryError e) {
                throw new IOException(file.location() + ": " + specs.get(index).name() + ": not enough memory for "
                        + tensor.bandBytes(band) + " bytes", e);
            }
        }
        return Sha256.hex(sha256);
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            known = "hdf5:" + (member == null ? "/" : member) + ":tensors=" + specs.size() + ":sha256="
                    + new Fingerprint().add(file).hex();
            fingerprint = known;
        }
        return known;
    }

    @Override
    public void close() {
        decoded.close();
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + (member == null ? "" : " " + member) + " (HDF5, " + specs.size() + " tensors)";
    }
}
