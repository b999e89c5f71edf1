package io.penstock.format;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.StoreInfo;
import io.penstock.store.TensorStore;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store of one unnamed tensor, in place in a mapped file or in a copy made at open. */
public final class OneTensorStore implements TensorStore, StoreInfo.Described {

    /**
     * A row-major, little-endian copy of a tensor stored otherwise.
     *
     * @param arena its memory; the store closes it
     * @param tensor the tensor
     */
    public record Copy(Arena arena, Tensor tensor) {
    }

    private final String format;
    private final MappedFile file;
    private final long byteOffset;
    private final TensorSpec spec;
    /** Null if the tensor is in place. */
    private final @Nullable Copy copy;
    private final Function<Tensor, StoreInfo> info;
    private final String distinction;
    private volatile @Nullable String fingerprint;

    /**
     * Creates a store.
     *
     * @param file the tensor's file; the store closes it
     * @param spec the tensor's type and shape; no name
     * @param copy the tensor's copy; null if it is read in place
     * @param distinction further text for the fingerprint; may be empty
     */
    public OneTensorStore(String format, MappedFile file, long byteOffset, TensorSpec spec, @Nullable Copy copy,
            Function<Tensor, StoreInfo> info, String distinction) {
        this.format = format;
        this.file = file;
        this.byteOffset = byteOffset;
        this.spec = spec;
        this.copy = copy;
        this.info = info;
        this.distinction = distinction;
    }

    @Override
    public List<TensorSpec> tensors() {
        return List.of(spec);
    }

    @Override
    public Tensor tensor(int index) {
        Objects.checkIndex(index, 1);
        return copy != null ? copy.tensor
                : Tensor.of(file.range(byteOffset, spec.byteSize()), spec.dtype(), spec.shape());
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Objects.checkIndex(index, 1);
        long rowCount = spec.rank() == 0 ? 1 : spec.dim(0);
        if (firstRow < 0 || rows < 0 || rows > rowCount - firstRow) {
            throw new IndexOutOfBoundsException(file.location() + ": rows from " + firstRow + ", " + rows
                    + " of them, are not within the tensor's 0 to " + rowCount);
        }
        long rowBytes = spec.rowBytes();
        if (copy == null) {
            into.set(file, byteOffset + firstRow * rowBytes, rows * rowBytes);
        } else {
            into.set(copy.tensor.segment(), firstRow * rowBytes, rows * rowBytes);
        }
    }

    @Override
    public boolean isConverted(int index) {
        Objects.checkIndex(index, 1);
        return copy != null;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = format + ":" + specText() + distinction + ":sha256=" + new Fingerprint().add(file).hex();
        }
        return fingerprint;
    }

    private String specText() {
        return spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "");
    }

    @Override
    public StoreInfo info() {
        return info.apply(tensor(0));
    }

    @Override
    public void close() {
        if (copy != null && copy.arena.scope().isAlive()) {
            copy.arena.close();
        }
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + " (" + specText() + ")";
    }
}
