package io.penstock.format.safetensors;

import io.penstock.format.StagedChecksums;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import io.penstock.store.StreamedTensor;
import io.penstock.store.integrity.BlockChecksums;
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

/**
 * Writes tensors as one safetensors file, byte for byte as the format's own library does: types of the widest alignment
 * first, those of a type by name, and the header padded with spaces to a multiple of 8 bytes, so that every element is
 * aligned to its size.
 */
public final class SafetensorsWriter {

    private static final int ALIGNMENT_BYTES = 8;
    private static final int BUFFER_BYTES = 1 << 20;

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
     * Writes a file that appears whole, or not at all.
     *
     * @param path the file
     * @param tensors its tensors by name, in any order; they are read once, front to back, and may be larger than
     *     memory if they are views of mappings
     * @param metadata what the file is to say of itself; may be empty
     * @param overwrite whether a file of that name may be replaced
     * @throws FileAlreadyExistsException if there is one and it may not
     * @throws IOException if the file cannot be written, or is being written already
     * @throws IllegalArgumentException if a tensor is named {@code __metadata__}, or there are so many that the header
     *     exceeds the format's 100,000,000 bytes
     */
    public static void write(Path path, Map<String, Tensor> tensors, Map<String, String> metadata, boolean overwrite)
            throws IOException {
        write(path, tensors.entrySet().stream().map(e -> StreamedTensor.of(e.getKey(), e.getValue())).toList(),
                metadata, overwrite);
    }

    /**
     * Writes a file, and the checksums of its blocks beside it, that appear whole, or not at all, of tensors that are
     * given piece by piece.
     *
     * @param path the file
     * @param tensors its tensors, in any order, no two of one name; each is read once, front to back
     * @param metadata what the file is to say of itself; may be empty
     * @param overwrite whether a file of that name may be replaced
     * @throws FileAlreadyExistsException if there is one and it may not
     * @throws IOException if a tensor cannot be read, or the file not be written, or it is being written already
     * @throws IllegalArgumentException if a tensor is named {@code __metadata__}, two have one name, or there are so
     *     many that the header exceeds the format's 100,000,000 bytes
     * @throws IllegalStateException if a tensor gives more or fewer bytes than its shape has
     */
    public static void write(Path path, List<StreamedTensor> tensors, Map<String, String> metadata, boolean overwrite)
            throws IOException {
        List<Typed> sorted = sorted(tensors);
        byte[] header = header(sorted, metadata);
        try (StagingFolder staging = StagingFolder.open(path)) {
            if (!overwrite) {
                StagingFolder.requireAbsent(path);
                StagingFolder.requireAbsent(BlockChecksums.pathFor(path));
            }
            String name = path.getFileName().toString();
            try (SpoolFile file = new SpoolFile(staging.create(name), path, BUFFER_BYTES)) {
                file.putLong(header.length);
                file.put(MemorySegment.ofArray(header), 0, header.length);
                for (Typed each : sorted) {
                    each.tensor.writeTo(file::put);
                }
                file.force();
            }
            staging.publish(List.of(StagedChecksums.write(staging, name), name));
        }
    }

    private static List<Typed> sorted(List<StreamedTensor> tensors) {
        List<Typed> sorted = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (StreamedTensor tensor : tensors) {
            String name = tensor.spec().name();
            if (name.equals(SafetensorsHeader.METADATA)) {
                throw new IllegalArgumentException("a tensor named " + name + ", which the format keeps for itself");
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
        Map<String, Object> fields = new LinkedHashMap<>();
        if (!metadata.isEmpty()) {
            fields.put(SafetensorsHeader.METADATA, metadata);
        }
        long begin = 0;
        for (Typed each : tensors) {
            long end = Math.addExact(begin, each.tensor.spec().byteSize());
            Map<String, Object> fieldsOfOne = new LinkedHashMap<>();
            fieldsOfOne.put("dtype", each.type.toString());
            fieldsOfOne.put("shape", LongStream.of(each.tensor.spec().shape()).boxed().toList());
            fieldsOfOne.put("data_offsets", List.of(begin, end));
            fields.put(each.name(), fieldsOfOne);
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
