package io.penstock.convert;

import io.penstock.memory.TensorSpec;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What a store can be converted to. */
public enum TargetFormat {
    /** Tokens in documents: Megatron's {@code X.bin} and {@code X.idx}. */
    MEGATRON(".idx", ".bin"),
    /** One tensor: numpy's {@code .npy}. */
    NPY(".npy"),
    /** Named tensors: one {@code .safetensors}. */
    SAFETENSORS(".safetensors"),
    /** Records of named files: one tar or several, each with its index. */
    WEBDATASET(".tar");

    private final List<String> endings;

    TargetFormat(String... endings) {
        this.endings = List.of(endings);
    }

    /**
     * The format that {@link #toString} names so.
     *
     * @param id a lower-case name, for example {@code megatron}
     * @return the format
     * @throws IllegalArgumentException if no format has that name; lists those that are
     */
    public static TargetFormat of(String id) {
        return Arrays.stream(values()).filter(format -> format.toString().equals(id)).findAny().orElseThrow(
                () -> new IllegalArgumentException("found '" + id + "', expected one of " + Arrays.toString(values())));
    }

    /**
     * The format that a path's ending asks for.
     *
     * @param path where to write
     * @return the format; empty if the ending is that of none
     */
    public static Optional<TargetFormat> ofEnding(Path path) {
        String name = path.toString().toLowerCase(Locale.ROOT);
        return Arrays.stream(values()).filter(format -> format.endings.stream().anyMatch(name::endsWith)).findAny();
    }

    /**
     * The formats that there is something in a store for. A conversion may still be refused: values may not fit, or
     * records lack one.
     *
     * @param store what would be converted
     * @return the formats, in their own order
     */
    public static List<TargetFormat> of(Store store) {
        return switch (store) {
            case TokenStore tokens -> tokens.dtype().isInteger() ? List.of(MEGATRON, NPY, SAFETENSORS)
                    : List.of(NPY, SAFETENSORS);
            case TensorStore tensors -> ofTensors(tensors.tensors());
            case RecordStore _ -> List.of(values());
        };
    }

    private static List<TargetFormat> ofTensors(List<TensorSpec> tensors) {
        List<TargetFormat> formats = new ArrayList<>();
        if (tensors.stream().anyMatch(TensorDocuments::areIn)) {
            formats.add(MEGATRON);
        }
        if (!tensors.isEmpty()) {
            formats.add(NPY);
        }
        formats.add(SAFETENSORS);
        return formats;
    }

    /** The name in lower case, as command line and JSON write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
