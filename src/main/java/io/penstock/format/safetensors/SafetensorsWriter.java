// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import io.penstock.format.TensorFileWriter;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import io.penstock.store.IfExists;
import io.penstock.store.StreamedTensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes tensors as one safetensors file, byte for byte as the format's own library does: tensors by descending
 * alignment, then by name; the header padded with spaces to a multiple of 8 bytes, so that every element is aligned to
 * its size.
 */
public final class SafetensorsWriter {

    private static final int ALIGNMENT_BYTES = 8;

    private record Typed(StreamedTensor tensor, SafetensorsType type) {

        String name() {
            return tensor.spec().name();
        }

        byte[] nameBytes() {
            return name().getBytes(StandardCharsets.UTF_8);
        }
    }

    private SafetensorsWriter() {
    }

    /**
     * Writes a file and its checksum sidecar, atomically.
     *
     * @param path the file
     * @param tensors the tensors by name, in any order; each is read once, front to back, and may be larger than memory
     *     if it is a view of a mapping
     * @param metadata the file's {@code __metadata__}; may be empty
     * @param ifExists whether to replace an existing file
     * @throws FileAlreadyExistsException if the file exists and is not to be replaced
     * @throws IOException if the file cannot be written, or another writer is active
     * @throws IllegalArgumentException if a tensor is named {@code __metadata__}, or the header exceeds the format's
     *     100,000,000 bytes
     */
    public static void write(Path path, Map<String, Tensor> tensors, Map<String, String> metadata, IfExists ifExists)
            throws IOException {
        write(path, tensors.entrySet().stream().map(e -> StreamedTensor.of(e.getKey(), e.getValue())).toList(),
                metadata, ifExists);
    }

    /**
     * Writes a file of streamed tensors and its checksum sidecar, atomically.
     *
     * @param path the file
     * @param tensors the tensors, in any order, with unique names; each is read once, front to back
     * @param metadata the file's {@code __metadata__}; may be empty
     * @param ifExists whether to replace an existing file
     * @throws FileAlreadyExistsException if the file exists and is not to be replaced
     * @throws IOException if a tensor cannot be read, the file cannot be written, or another writer is active
     * @throws IllegalArgumentException if a tensor is named {@code __metadata__}, two have the same name, or the header
     *     exceeds the format's 100,000,000 bytes
     * @throws IllegalStateException if a tensor writes more or fewer bytes than its shape has
     */
    public static void write(Path path, List<StreamedTensor> tensors, Map<String, String> metadata, IfExists ifExists)
            throws IOException {
        List<Typed> sorted = sorted(tensors);
        byte[] header = header(sorted, metadata);
        TensorFileWriter.write(path, ifExists, file -> {
            file.putLong(header.length);
            file.put(MemorySegment.ofArray(header), 0, header.length);
            for (Typed each : sorted) {
                each.tensor.writeTo(file::put);
            }
        });
    }

    private static List<Typed> sorted(List<StreamedTensor> tensors) {
        List<Typed> sorted = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (StreamedTensor tensor : tensors) {
            String name = tensor.spec().name();
            if (name.equals(SafetensorsHeader.METADATA)) {
                throw new IllegalArgumentException("a tensor named " + name + ", which the format reserves");
            }
            if (!names.add(name)) {
                throw new IllegalArgumentException("two tensors named '" + name + "'");
            }
            sorted.add(new Typed(tensor, SafetensorsType.of(tensor.spec().dtype())));
        }
        sorted.sort(Comparator.comparing(Typed::type).reversed()
                .thenComparing(Typed::nameBytes, Arrays::compareUnsigned));
        return sorted;
    }

    private static byte[] header(List<Typed> tensors, Map<String, String> metadata) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        if (!metadata.isEmpty()) {
            fields.put(SafetensorsHeader.METADATA, metadata);
        }
        long begin = 0;
        for (Typed each : tensors) {
            long end = Math.addExact(begin, each.tensor.spec().byteSize());
            fields.put(each.name(), Json.members("dtype", each.type.toString(),
                    "shape", LongStream.of(each.tensor.spec().shape()).boxed().toList(),
                    "data_offsets", List.of(begin, end)));
            begin = end;
        }
        byte[] text = Json.write(fields).getBytes(StandardCharsets.UTF_8);
        byte[] padded = Arrays.copyOf(text, Math.ceilDiv(text.length, ALIGNMENT_BYTES) * ALIGNMENT_BYTES);
        Arrays.fill(padded, text.length, padded.length, (byte) ' ');
        if (padded.length > SafetensorsHeader.MAX_HEADER_BYTES) {
            throw new IllegalArgumentException("a header of " + padded.length + " bytes, the format has at most "
                    + SafetensorsHeader.MAX_HEADER_BYTES);
        }
        return padded;
    }
}
