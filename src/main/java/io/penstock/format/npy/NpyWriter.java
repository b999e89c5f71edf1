package io.penstock.format.npy;

import io.penstock.format.StagedChecksums;
import io.penstock.format.numpy.NpyArray;
import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.Tensor;
import io.penstock.store.StreamedTensor;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;

/**
 * Writes a tensor as a {@code .npy} of version 1.0, byte for byte as {@code numpy.save} does, with a
 * {@linkplain BlockChecksums checksum} sidecar.
 */
public final class NpyWriter {

    private static final int BUFFER_BYTES = 1 << 20;

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
                byte[] header = NpyArray.header(tensor.spec().dtype(), tensor.spec().shape());
                file.put(MemorySegment.ofArray(header), 0, header.length);
                tensor.writeTo(file::put);
                file.force();
            }
            staging.publish(List.of(StagedChecksums.write(staging, name), name));
        }
    }
}
