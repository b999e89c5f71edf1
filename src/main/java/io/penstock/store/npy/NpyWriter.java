package io.penstock.store.npy;

import io.penstock.memory.Tensor;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.store.mapped.SpoolFile;
import io.penstock.store.mapped.StagingFolder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Writes a tensor as a {@code .npy} of version 1.0, byte for byte as {@code numpy.save} does, and its
 * {@linkplain BlockChecksums checksums} beside it.
 */
public final class NpyWriter {

    private static final int ALIGNMENT_BYTES = 64;
    private static final int BUFFER_BYTES = 1 << 20;
    /** numpy leaves room for the first dimension to grow in place to any 64-bit number. */
    private static final int MAX_DIGITS = 21;

    private NpyWriter() {
    }

    /**
     * Writes a file that appears whole, or not at all.
     *
     * @param path the file
     * @param tensor its content; {@code bf16} and the 8-bit floats are stored as bytes, as numpy does for types that
     *     it has not
     * @param overwrite whether a file of that name may be replaced
     * @throws FileAlreadyExistsException if there is one, or checksums of one, and it may not
     * @throws IOException if the file cannot be written, or is being written already
     */
    public static void write(Path path, Tensor tensor, boolean overwrite) throws IOException {
        try (StagingFolder staging = StagingFolder.open(path)) {
            requireAbsent(path, overwrite);
            requireAbsent(BlockChecksums.pathFor(path), overwrite);
            String name = path.getFileName().toString();
            try (SpoolFile file = new SpoolFile(staging.create(name), path, BUFFER_BYTES)) {
                byte[] header = header(tensor);
                file.put(MemorySegment.ofArray(header), 0, header.length);
                file.put(tensor.segment(), 0, tensor.byteSize());
                file.force();
            }
            staging.publish(List.of(BlockChecksums.stage(staging, name), name));
        }
    }

    private static void requireAbsent(Path path, boolean overwrite) throws IOException {
        if (!overwrite && Files.exists(path)) {
            throw new FileAlreadyExistsException(path.toString(), null, "exists already, and is not to be overwritten");
        }
    }

    private static byte[] header(Tensor tensor) {
        String shape = LongStream.of(tensor.shape()).mapToObj(Long::toString).collect(Collectors.joining(", "))
                + (tensor.rank() == 1 ? "," : "");
        String text = "{'descr': '" + NpyType.descrOf(tensor.dtype()) + "', 'fortran_order': False, 'shape': (" + shape
                + "), }";
        if (tensor.rank() > 0) {
            text += " ".repeat(MAX_DIGITS - Long.toString(tensor.dim(0)).length());
        }
        int prefixBytes = NpyHeader.LENGTH_OFFSET + Short.BYTES;
        int padding = ALIGNMENT_BYTES - (prefixBytes + text.length() + 1) % ALIGNMENT_BYTES;
        text += " ".repeat(padding) + "\n";
        return ByteBuffer.allocate(prefixBytes + text.length()).order(ByteOrder.LITTLE_ENDIAN)
                .put(NpyHeader.magic()).put((byte) 1).put((byte) 0).putShort((short) text.length())
                .put(text.getBytes(StandardCharsets.ISO_8859_1)).array();
    }
}
