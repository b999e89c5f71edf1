// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.StoreFormats;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoreWriter;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A format that a store can be converted to: one whose {@link StoreProvider} has a writer, also of another jar.
 *
 * @param name the format's name, for example {@code megatron}
 * @param writer writes its stores
 */
public record TargetFormat(String name, StoreWriter writer) {

    /** {@return all of them, in detection order} */
    public static List<TargetFormat> all() {
        return StoreFormats.all().stream().flatMap(provider -> provider.writer().stream()
                .map(writer -> new TargetFormat(provider.name(), writer))).toList();
    }

    /**
     * {@return the format with a name}
     *
     * @param name the name
     * @throws IllegalArgumentException if no format with that name can be written; lists those that can
     */
    public static TargetFormat of(String name) {
        List<TargetFormat> all = all();
        return all.stream().filter(format -> format.name.equals(name)).findAny().orElseThrow(
                () -> new IllegalArgumentException("found '" + name + "', expected one of " + all));
    }

    /**
     * {@return the format that a path's suffix implies; empty if no format has the suffix}
     *
     * @param path the path to write
     */
    public static Optional<TargetFormat> ofEnding(Path path) {
        String name = path.toString().toLowerCase(Locale.ROOT);
        return all().stream().filter(format -> format.writer.endings().stream().anyMatch(name::endsWith)).findFirst();
    }

    /**
     * {@return the formats that can hold something from a store, in detection order} A conversion may still fail:
     * values may not fit, or records may lack one.
     *
     * @param store the source
     */
    public static List<TargetFormat> of(Store store) {
        return all().stream().filter(format -> format.canHold(store)).toList();
    }

    /**
     * {@return whether the format can hold something from a store}
     *
     * @param store the source
     */
    public boolean canHold(Store store) {
        return switch (writer) {
            case StoreWriter.OfDocuments _ -> switch (store) {
                case TokenStore tokens -> tokens.dtype().isInteger();
                case TensorStore tensors -> tensors.tensors().stream().anyMatch(TensorDocuments::areIn);
                case RecordStore _ -> true;
            };
            case StoreWriter.OfTensors tensors -> tensors.isNamed()
                    || !(store instanceof TensorStore source && source.tensors().isEmpty());
            case StoreWriter.OfSamples _ -> store instanceof RecordStore;
        };
    }

    /** {@return the format's name} */
    @Override
    public String toString() {
        return name;
    }
}
