// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** A store of tensors, each in place in a mapped file or in a copy. */
public final class TensorFiles implements TensorStore, StoreInfo.Described {

    /** Locates bytes of a tensor, counted from its first. */
    @FunctionalInterface
    public interface Bytes {

        /** Locates a range of bytes; see {@link Span}. */
        void locate(long offset, long byteSize, Span into);

        /** Returns the bytes of a file from an offset. */
        static Bytes in(MappedFile file, long start) {
            return (offset, byteSize, into) -> into.set(file, start + offset, byteSize);
        }

        static Bytes in(MemorySegment memory) {
            return (offset, byteSize, into) -> into.set(memory, offset, byteSize);
        }
    }

    /**
     * A tensor.
     *
     * @param storedDtype the element type in the file, in the format's notation
     * @param storedOrder {@code C} or {@code F} if the format allows both, otherwise null
     * @param isCopy whether the bytes are a copy, because the file has them in another form
     * @param bytes its elements, row-major and little-endian
     */
    public record Entry(TensorSpec spec, String storedDtype, @Nullable String storedOrder, boolean isCopy,
            Bytes bytes) {

        /** Creates a tensor of a format with a single byte order and a single order of elements. */
        public Entry(TensorSpec spec, boolean isCopy, Bytes bytes) {
            this(spec, StoredArray.storedDtypeOf(spec.dtype()), null, isCopy, bytes);
        }

        private Tensor tensor() {
            Span all = new Span();
            bytes.locate(0, spec.byteSize(), all);
            return Tensor.of(all.slice(), spec.dtype(), spec.shape());
        }

        private StoredArray stored() {
            return new StoredArray(spec.name(), storedDtype, storedOrder, tensor());
        }

        private Inspection.Array describe() {
            return new Inspection.Array(spec.name(), spec.dtype(), storedDtype,
                    LongStream.of(spec.shape()).boxed().toList(), storedOrder, spec.byteSize(), null, null);
        }
    }

    /** Describes a store without its arrays. */
    @FunctionalInterface
    public interface Description {

        /** Describes the store; computes the digests among the format's own fields only if {@code digest}. */
        StoreInfo of(boolean digest) throws IOException;
    }

    private final String identity;
    private final Location path;
    private final List<MappedFile> files;
    private final List<Entry> entries;
    private final List<TensorSpec> specs;
    private final Map<String, String> unread;
    private final Description description;
    private final Runnable freeCopies;
    private volatile @Nullable String fingerprint;
    private boolean closed;

    /**
     * Creates a store. It closes the files, and calls {@code freeCopies} once.
     *
     * @param identity the start of the fingerprint: the format's name and what the tensors are
     * @param unread the reasons why other tensors are unsupported, by name
     */
    public TensorFiles(String identity, Location path, List<MappedFile> files, List<Entry> entries,
            Map<String, String> unread, Description description, Runnable freeCopies) {
        this.identity = identity;
        this.path = path;
        this.files = List.copyOf(files);
        this.entries = List.copyOf(entries);
        this.specs = entries.stream().map(Entry::spec).toList();
        this.unread = unread;
        this.description = description;
        this.freeCopies = freeCopies;
    }

    /** Creates a store of one unnamed tensor; {@code distinction} is further text for the fingerprint. */
    public static TensorFiles of(String format, String distinction, MappedFile file, Entry entry,
            Description description, Runnable freeCopies) {
        String spec = entry.spec.toString().substring(": ".length());
        return new TensorFiles(format + ":" + spec + distinction, file.location(), List.of(file), List.of(entry),
                Map.of(), description, freeCopies);
    }

    @Override
    public List<TensorSpec> tensors() {
        return specs;
    }

    @Override
    public Map<String, String> unread() {
        return unread;
    }

    @Override
    public Tensor tensor(int index) {
        return entries.get(index).tensor();
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Entry entry = entries.get(index);
        checkRows(path, entry.spec, firstRow, rows);
        long rowBytes = entry.spec.rowBytes();
        entry.bytes.locate(firstRow * rowBytes, rows * rowBytes, into);
    }

    /** Throws an {@link IndexOutOfBoundsException} that names the file, unless a tensor has the rows. */
    public static void checkRows(Location path, TensorSpec spec, long firstRow, long rows) {
        long rowCount = rowCount(spec);
        if (firstRow < 0 || rows < 0 || rows > rowCount - firstRow) {
            throw new IndexOutOfBoundsException(path + ": rows " + firstRow + " to " + (firstRow + rows)
                    + (spec.name().isEmpty() ? "" : " of tensor '" + spec.name() + "'") + ", expected 0 to "
                    + rowCount);
        }
    }

    /** Returns the number of a tensor's rows; 1 for a scalar. */
    public static long rowCount(TensorSpec spec) {
        return spec.rank() == 0 ? 1 : spec.dim(0);
    }

    @Override
    public boolean isConverted(int index) {
        return entries.get(index).isCopy;
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            Fingerprint sample = new Fingerprint();
            files.forEach(sample::add);
            known = identity + ":sha256=" + sample.hex();
            fingerprint = known;
        }
        return known;
    }

    @Override
    public StoreInfo info() {
        try {
            StoreInfo info = description.of(false);
            return new StoreInfo(info.kind(), info.files(), info.details(),
                    entries.stream().map(Entry::stored).toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@inheritDoc} Decodes compressed tensors only for digests. */
    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        StoreInfo info = description.of(depth.digests());
        return new Inspection(path, info.kind(), info.files(), info.details(), depth.digests()
                ? Objects.requireNonNull(TensorStore.super.inspect(depth, progress).arrays())
                : entries.stream().map(Entry::describe).toList());
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            freeCopies.run();
            files.forEach(MappedFile::close);
        }
    }

    @Override
    public String toString() {
        return path + " (" + identity + ")";
    }
}
