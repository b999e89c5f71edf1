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

/** A store of one tensor without a name: in place in a mapped file, or in a copy that was made when it was opened. */
public final class OneTensorStore implements TensorStore, StoreInfo.Source {

    private final MappedFile file;
    private final long byteOffset;
    /** What holds the copy; null if the tensor is in place. */
    private final Arena copyArena;
    private final StoreInfo info;
    private final Tensor tensor;
    private final TensorSpec spec;
    private final String distinction;
    private volatile String fingerprint;

    /**
     * A store.
     *
     * @param file the file that has the tensor; the store closes it
     * @param byteOffset where in the file the first element is
     * @param copyArena what holds the tensor if it is a copy; the store closes it. Null if it is in place
     * @param info what the store is made of: one array
     * @param distinction what else tells such stores apart in fingerprints; empty if nothing does
     */
    public OneTensorStore(MappedFile file, long byteOffset, Arena copyArena, StoreInfo info, String distinction) {
        this.file = file;
        this.byteOffset = byteOffset;
        this.copyArena = copyArena;
        this.info = info;
        this.tensor = info.arrays().getFirst().tensor();
        this.spec = new TensorSpec("", tensor.dtype(), tensor.shape());
        this.distinction = distinction;
    }

    @Override
    public List<TensorSpec> tensors() {
        return List.of(spec);
    }

    @Override
    public Tensor tensor(int index) {
        Objects.checkIndex(index, 1);
        return tensor;
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Objects.checkIndex(index, 1);
        long rowCount = spec.rank() == 0 ? 1 : spec.dim(0);
        if (firstRow < 0 || rows < 0 || rows > rowCount - firstRow) {
            throw new IndexOutOfBoundsException(file.path() + ": rows from " + firstRow + ", " + rows
                    + " of them, are not within the tensor's 0 to " + rowCount);
        }
        long rowBytes = spec.rowBytes();
        if (copyArena == null) {
            into.set(file, byteOffset + firstRow * rowBytes, rows * rowBytes);
        } else {
            into.set(tensor.segment(), firstRow * rowBytes, rows * rowBytes);
        }
    }

    @Override
    public boolean isConverted(int index) {
        Objects.checkIndex(index, 1);
        return copyArena != null;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = info.kind() + ":" + specText() + distinction + ":sha256=" + new Fingerprint().add(file).hex();
        }
        return fingerprint;
    }

    private String specText() {
        return spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "");
    }

    @Override
    public StoreInfo info() {
        return info;
    }

    @Override
    public void close() {
        if (copyArena != null && copyArena.scope().isAlive()) {
            copyArena.close();
        }
        file.close();
    }

    @Override
    public String toString() {
        return file.path() + " (" + specText() + ")";
    }
}
