package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.npy.NpyStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Named tensors in a file or a set of files.
 *
 * <p>A store is immutable and may be read by any number of threads. Tensors are row-major and little-endian: what is
 * stored so is a view of the mapping; what is not is converted when the store is opened, and {@link #isConverted} says
 * so. Whoever opened the store closes it, when nobody reads.
 */
public interface TensorStore extends AutoCloseable {

    /**
     * Whether a file is a tensor store by its content or its name; it may still turn out malformed.
     *
     * @param path any path
     * @return true if {@link #open(Path)} is the way to open it, rather than {@link TokenStore#open(Path)}
     * @throws IOException if the file cannot be read
     */
    static boolean isTensorStore(Path path) throws IOException {
        return Recognition.isNpy(path);
    }

    /**
     * Opens a store, and checks that it is whole.
     *
     * @param path a {@code .npy}
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file is not as its format says
     * @throws IOException if there is no such file, or it cannot be read
     */
    static TensorStore open(Path path) throws IOException {
        return NpyStore.open(path, null);
    }

    /**
     * Opens a store whose dtype is known: numpy stores types that it has not, such as {@code bf16}, as bytes.
     *
     * @param path a {@code .npy}
     * @param dtype the type of its elements
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file is not as its format says, or has elements of another type
     * @throws IOException if there is no such file, or it cannot be read
     */
    static TensorStore open(Path path, DType dtype) throws IOException {
        return NpyStore.open(path, dtype);
    }

    /**
     * The tensors, in the order of the file; a format that names none has one tensor, named {@code ""}.
     *
     * @return name, dtype and shape of each
     */
    List<TensorSpec> tensors();

    /**
     * A tensor's data.
     *
     * @param index the tensor's position in {@link #tensors}
     * @return a view, valid until {@link #close}
     */
    Tensor tensor(int index);

    /**
     * Points at a run of rows of a tensor.
     *
     * @param index the tensor's position in {@link #tensors}
     * @param firstRow the first index along its first dimension
     * @param rows how many
     * @param into set to the run's bytes
     * @throws IndexOutOfBoundsException if there are no such rows
     */
    void locate(int index, long firstRow, long rows, Span into);

    /**
     * Whether a tensor was copied and converted on open, because it is not stored row-major and little-endian.
     *
     * @param index the tensor's position in {@link #tensors}
     * @return true if it takes memory of its own, false if it is a view of the mapping
     */
    boolean isConverted(int index);

    /**
     * A short text that changes when the store's content does: what a saved state compares.
     *
     * @return the fingerprint; made from names, dtypes, shapes and a sample of the content
     */
    String fingerprint();

    /** Unmaps the files and frees converted copies. Calling it again does nothing. */
    @Override
    void close();
}
