// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.npy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.TensorStore;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NpyWriterTest {

    @TempDir
    private Path folder;

    @Test
    void whatNumpyWroteIsWrittenByteForByteTheSame() throws IOException {
        int files = 0;
        for (Fixtures.Entry entry : Fixtures.entries(Fixtures.TOKENS_AND_NPY).filter(e -> e.kind().equals("npy")
                && e.expect().equals("read")).toList()) {
            Map<String, Object> array = entry.arrays().getFirst();
            boolean numpysDefault = array.get("stored_order").equals("C")
                    && !array.get("stored_dtype").toString().startsWith(">")
                    && entry.fields().get("npy_version").toString().equals("[1, 0]")
                    && entry.fields().get("writer").toString().startsWith("numpy");
            if (!numpysDefault) {
                continue;
            }
            Path written = folder.resolve("again.npy");
            try (TensorStore store = TensorStore.open(entry.path())) {
                NpyWriter.write(written, store.tensor(0), IfExists.REPLACE);
            }
            if (!entry.toString().contains("open_memmap")) {
                assertEquals(-1, Files.mismatch(entry.path(), written), entry.toString());
                files++;
            }
            try (TensorStore store = TensorStore.open(entry.path()); TensorStore again = TensorStore.open(written)) {
                assertEquals(store.tensors(), again.tensors());
                assertEquals(-1, store.tensor(0).segment().mismatch(again.tensor(0).segment()));
            }
        }
        assertEquals(true, files >= 15, "files compared: " + files);
    }

    @Test
    void typesThatNumpyHasNotComeBackWhenTheyAreTold() throws IOException {
        for (DType dtype : new DType[] {DType.BF16, DType.F8E4M3, DType.F8E5M2}) {
            Path path = folder.resolve(dtype + ".npy");
            byte[] bytes = {1, 2, 3, 4, 5, 6, 7, 8};
            NpyWriter.write(path, Tensor.of(MemorySegment.ofArray(bytes), dtype, 2, 4 / dtype.byteSize()),
                    IfExists.FAIL);
            assertThrows(MalformedStoreException.class, () -> TensorStore.open(path));
            try (TensorStore store = TensorStore.open(path, OpenOptions.DEFAULT.withDType(dtype))) {
                assertEquals(dtype, store.tensors().getFirst().dtype());
                assertArrayEquals(new long[] {2, 4 / dtype.byteSize()}, store.tensors().getFirst().shape());
            }
        }
    }

    @Test
    void aFileThatExistsIsKeptUnlessItIsToBeOverwritten() throws IOException {
        Path path = folder.resolve("x.npy");
        Files.writeString(path, "other");
        Tensor tensor = Tensor.of(MemorySegment.ofArray(new byte[4]), DType.U8, 4);
        assertThrows(FileAlreadyExistsException.class, () -> NpyWriter.write(path, tensor, IfExists.FAIL));
        assertEquals("other", Files.readString(path));
        NpyWriter.write(path, tensor, IfExists.REPLACE);
        assertEquals(132, Files.size(path));
        assertEquals(2, Folders.files(folder).size());
    }
}
