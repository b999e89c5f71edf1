package io.penstock.format.npy;

import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.StreamedTensor;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
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
        write(path, StreamedTensor.of("", tensor), overwrite);
    }

    /**
     * Writes a file that appears whole, or not at all, of a tensor that is given piece by piece.
     *
     * @param path the file
     * @param tensor its content; its name is not part of the file
     * @param overwrite whether a file of that name may be replaced
     * @throws FileAlreadyExistsException if there is one, or checksums of one, and it may not
     * @throws IOException if the tensor cannot be read, or the file not be written, or it is being written already
     * @throws IllegalStateException if the tensor gives more or fewer bytes than its shape has
     */
    public static void write(Path path, StreamedTensor tensor, boolean overwrite) throws IOException {
        try (StagingFolder staging = StagingFolder.open(path)) {
            if (!overwrite) {
                StagingFolder.requireAbsent(path);
                StagingFolder.requireAbsent(BlockChecksums.pathFor(path));
            }
            String name = path.getFileName().toString();
            try (SpoolFile file = new SpoolFile(staging.create(name), path, BUFFER_BYTES)) {
                byte[] header = header(tensor.spec().dtype(), tensor.spec().shape());
                file.put(MemorySegment.ofArray(header), 0, header.length);
                tensor.writeTo(file::put);
                file.force();
            }
            staging.publish(List.of(BlockChecksums.stage(staging, name), name));
        }
    }

    /**
     * What stands before the elements, as {@code numpy.save} writes it.
     *
     * @param dtype the elements' type
     * @param shape the dimensions; none for a scalar
     * @return the magic, the version and the header, a multiple of 64 bytes
     */
    public static byte[] header(DType dtype, long... shape) {
        String dims = LongStream.of(shape).mapToObj(Long::toString).collect(Collectors.joining(", "))
                + (shape.length == 1 ? "," : "");
        String text = "{'descr': '" + NpyType.descrOf(dtype) + "', 'fortran_order': False, 'shape': (" + dims
                + "), }";
        if (shape.length > 0) {
            text += " ".repeat(MAX_DIGITS - Long.toString(shape[0]).length());
        }
        int prefixBytes = NpyHeader.LENGTH_OFFSET + Short.BYTES;
        int padding = ALIGNMENT_BYTES - (prefixBytes + text.length() + 1) % ALIGNMENT_BYTES;
        text += " ".repeat(padding) + "\n";
        return ByteBuffer.allocate(prefixBytes + text.length()).order(ByteOrder.LITTLE_ENDIAN)
                .put(NpyHeader.magic()).put((byte) 1).put((byte) 0).putShort((short) text.length())
                .put(text.getBytes(StandardCharsets.ISO_8859_1)).array();
    }
}
