// SPDX-License-Identifier: Apache-2.0
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

/** The formats that a store can be converted to. */
public enum TargetFormat {
    /** Documents of tokens: Megatron's {@code X.bin} and {@code X.idx}. */
    MEGATRON(".idx", ".bin"),
    /** One tensor: NumPy's {@code .npy}. */
    NPY(".npy"),
    /** Named tensors: one {@code .safetensors} file. */
    SAFETENSORS(".safetensors"),
    /** Records of named files: one or more tars, each with its index. */
    WEBDATASET(".tar");

    private final List<String> endings;

    TargetFormat(String... endings) {
        this.endings = List.of(endings);
    }

    /**
     * {@return the format with a name}
     *
     * @param id a lower-case name, for example {@code megatron}
     * @throws IllegalArgumentException if no format has that name; lists the names
     */
    public static TargetFormat of(String id) {
        return Arrays.stream(values()).filter(format -> format.toString().equals(id)).findAny().orElseThrow(
                () -> new IllegalArgumentException("found '" + id + "', expected one of " + Arrays.toString(values())));
    }

    /**
     * {@return the format that a path's suffix implies; empty if no format has the suffix}
     *
     * @param path the path to write
     */
    public static Optional<TargetFormat> ofEnding(Path path) {
        String name = path.toString().toLowerCase(Locale.ROOT);
        return Arrays.stream(values()).filter(format -> format.endings.stream().anyMatch(name::endsWith)).findAny();
    }

    /**
     * {@return the formats that can hold something from a store, in their own order} A conversion may still fail:
     * values may not fit, or records may lack one.
     *
     * @param store the source
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

    /** The lower-case name, as in commands and JSON. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
