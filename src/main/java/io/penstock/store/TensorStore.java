package io.penstock.store;

import io.penstock.codec.MissingLibraryException;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Named tensors in a file or a set of files.
 *
 * <p>A store is immutable and may be read by any number of threads. Tensors are row-major and little-endian: what is
 * stored so is a view of the mapping; what is not is converted or decoded into a copy, when the store is opened or when
 * it is located for the first time, and {@link #isConverted} says so. Whoever opened the store closes it, when nobody
 * reads.
 */
public non-sealed interface TensorStore extends Store {

    /**
     * Opens a store, and checks that it is whole.
     *
     * @param path a file or a folder of the store
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised or not one of tensors, or its files are not as
     *     it says
     * @throws IOException if there is no such file, or it cannot be read
     */
    static TensorStore open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store whose dtype is known: numpy stores types that it has not, such as {@code bf16}, as bytes.
     *
     * @param path a file or a folder of the store
     * @param dtype the type of its elements
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the file is not as its format says, or has elements of another type
     * @throws IOException if there is no such file, or it cannot be read
     */
    static TensorStore open(Path path, DType dtype) throws IOException {
        return open(path, OpenOptions.DEFAULT.withDType(dtype));
    }

    /**
     * Opens a store of which something is known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised or not one of tensors, or its files are not as
     *     it says or as was told
     * @throws MissingLibraryException if it takes an optional library that is not there; says which
     * @throws IOException if there is no such file, or it cannot be read
     */
    static TensorStore open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a store wherever it is, of which something may be known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static TensorStore open(Location path, OpenOptions options) throws IOException {
        Store store = Store.open(path, options);
        if (store instanceof TensorStore tensors) {
            return tensors;
        }
        store.close();
        throw new MalformedStoreException(path, "a store of " + (store instanceof TokenStore ? "tokens" : "records"),
                "one of tensors");
    }

    /**
     * The tensors, in the order of the file or, in safetensors, of their names; a format that names none has one
     * tensor, named {@code ""}.
     *
     * @return name, dtype and shape of each
     */
    List<TensorSpec> tensors();

    /**
     * Tensors that the files hold and this store does not give, for their elements are of a type, or stored in a way,
     * that is not read. {@link #inspect} lists them.
     *
     * @return by its name, why each is not read, in the order of {@link #tensors}; empty if there are none
     */
    default Map<String, String> unread() {
        return Map.of();
    }

    /**
     * A tensor's data.
     *
     * @param index the tensor's position in {@link #tensors}
     * @return a view, valid until {@link #close}
     * @throws UncheckedIOException if it is stored compressed, and malformed
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
     * @throws UncheckedIOException if they are stored compressed, and malformed
     */
    void locate(int index, long firstRow, long rows, Span into);

    /**
     * A tensor's rows as they lie, if they do so at equal distances and none has to be decoded first: then readers need
     * not ask where each is.
     *
     * @param index the tensor's position in {@link #tensors}; not a scalar's
     * @return the rows, or null
     */
    default Rows rows(int index) {
        TensorSpec spec = tensors().get(index);
        Span all = new Span();
        locate(index, 0, spec.dim(0), all);
        return Rows.of(all, spec.rowBytes(), spec.rowBytes(), spec.dim(0));
    }

    /**
     * Whether a tensor is converted or decoded into a copy, because it is compressed, or not stored row-major and
     * little-endian.
     *
     * @param index the tensor's position in {@link #tensors}
     * @return true if it takes memory of its own, false if it is a view of the mapping
     */
    boolean isConverted(int index);
}
