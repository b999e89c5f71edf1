// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.npy;

import io.penstock.format.TensorFileWriter;
import io.penstock.format.numpy.NpyArray;
import io.penstock.memory.Tensor;
import io.penstock.store.IfExists;
import io.penstock.store.StreamedTensor;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;

/**
 * Writes a tensor as a {@code .npy} of version 1.0, byte for byte as {@code numpy.save} does, with a
 * {@linkplain BlockChecksums checksum} sidecar.
 */
public final class NpyWriter {

    private NpyWriter() {
    }

    /**
     * Writes a file atomically.
     *
     * @param path the file
     * @param tensor its content; {@code bf16} and 8-bit floats are stored as bytes, as numpy stores types that it lacks
     * @param ifExists whether to replace an existing file
     * @throws FileAlreadyExistsException if the file or its sidecar exists and is not to be replaced
     * @throws IOException if the file cannot be written, or another writer is active
     */
    public static void write(Path path, Tensor tensor, IfExists ifExists) throws IOException {
        write(path, StreamedTensor.of("", tensor), ifExists);
    }

    /**
     * Writes a file of a streamed tensor atomically.
     *
     * @param path the file
     * @param tensor its content; its name is not written
     * @param ifExists whether to replace an existing file
     * @throws FileAlreadyExistsException if the file or its sidecar exists and is not to be replaced
     * @throws IOException if the tensor cannot be read, the file cannot be written, or another writer is active
     * @throws IllegalStateException if the tensor writes more or fewer bytes than its shape has
     */
    public static void write(Path path, StreamedTensor tensor, IfExists ifExists) throws IOException {
        byte[] header = NpyArray.header(tensor.spec().dtype(), tensor.spec().shape());
        TensorFileWriter.write(path, ifExists, file -> {
            file.put(MemorySegment.ofArray(header), 0, header.length);
            tensor.writeTo(file::put);
        });
    }
}
