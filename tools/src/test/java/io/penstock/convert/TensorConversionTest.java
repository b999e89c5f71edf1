// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.npy.NpyWriter;
import io.penstock.format.safetensors.SafetensorsWriter;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.testing.Digests;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of tensors, against the digests of the libraries that wrote them. */
class TensorConversionTest {

    @TempDir
    private Path folder;

    @Test
    void everyTensorOfEveryFixtureComesBackFromSafetensors() throws Exception {
        int tensors = 0;
        for (Fixtures.Entry entry : Converted.readable("npy", "npz", "safetensors", "hdf5")) {
            Path target = folder.resolve("x.safetensors");
            ConversionSummary written = Converted.run(entry.path(), target, "safetensors",
                    conversion -> conversion.ifExists(IfExists.REPLACE));
            try (TensorStore store = TensorStore.open(target); TensorStore source = TensorStore.open(entry.path())) {
                assertEquals(source.tensors().size(), written.records(), entry.toString());
                List<String> names = store.tensors().stream().map(TensorSpec::name).toList();
                for (int i = 0; i < source.tensors().size(); i++) {
                    TensorSpec spec = source.tensors().get(i);
                    int found = names.indexOf(spec.name().isEmpty() ? "array" : spec.name());
                    assertEquals(spec, new TensorSpec(spec.name(), store.tensors().get(found).dtype(),
                            store.tensors().get(found).shape()));
                    assertEquals(Converted.sha256(entry.arrays(), spec.name()),
                            Digests.of(store.tensor(found).segment()), entry + " " + spec);
                    tensors++;
                }
            }
        }
        assertTrue(tensors > 150, tensors + " tensors");
    }

    @Test
    void oneTensorBecomesAnArray() throws Exception {
        for (Fixtures.Entry entry : Converted.readable("npz", "safetensors", "hdf5")) {
            for (Map<String, Object> array : entry.arrays().stream().limit(3).toList()) {
                Path target = folder.resolve("x.npy");
                String name = array.get("name").toString();
                // Paths of HDF5 are taken without the leading slash, too.
                String given = name.startsWith("/") ? name.substring(1) : name;
                Converted.run(entry.path(), target, "npy",
                        conversion -> conversion.fields(List.of(given)).ifExists(IfExists.REPLACE));
                Object stored = array.get("stored_dtype");
                DType told = stored.equals("BF16") ? DType.BF16 : stored.equals("F8_E4M3") ? DType.F8E4M3
                        : stored.equals("F8_E5M2") ? DType.F8E5M2 : null;
                try (TensorStore store = TensorStore.open(target, OpenOptions.DEFAULT.withDType(told))) {
                    assertEquals(array.get("sha256"), Digests.of(store.tensor(0).segment()), entry + " " + name);
                }
            }
        }
    }

    @Test
    void metadataOfSafetensorsIsKeptThereAndNamedAsLostElsewhere() throws Exception {
        Path source = folder.resolve("a.safetensors");
        SafetensorsWriter.write(source, Map.of("x", Tensor.of(MemorySegment.ofArray(new byte[12]), DType.I32, 3)),
                Map.of("author", "nobody"), IfExists.FAIL);
        ConversionSummary kept = Converted.run(source, folder.resolve("b.safetensors"), "safetensors");
        assertEquals(List.of(), kept.lost());
        assertEquals(-1, Files.mismatch(source, folder.resolve("b.safetensors")));
        assertEquals(List.of("metadata: author", "name: x"),
                Converted.run(source, folder.resolve("b"), "megatron").lost());
        assertTrue(Converted.run(Fixtures.path("hdf5/attributes.h5"), folder.resolve("c.safetensors"),
                "safetensors").lost().contains("attributes"));
    }

    @Test
    void rowsOfIntegersBecomeDocuments() throws Exception {
        for (String name : List.of("npy/le_u4_2d_C.npy", "npy/i1_2d_C.npy", "npy/be_i2_2d_C.npy")) {
            Path source = Fixtures.path(name);
            Path target = folder.resolve(source.getFileName());
            assertEquals(5, Converted.run(source, target, "megatron", conversion -> conversion
                    .tokenDType(DType.I64)).records());
            try (TensorStore tensors = TensorStore.open(source); TokenStore store = TokenStore.open(target)) {
                for (int d = 0; d < 5; d++) {
                    assertEquals(9L * d, store.documentStart(d));
                }
                for (int i = 0; i < 45; i++) {
                    assertEquals(tensors.tensor(0).getLong(i), Converted.tokens(store).getLong(i));
                }
            }
        }
    }

    @Test
    void aSingleDimensionIsOneDocument() throws Exception {
        Converted.run(Fixtures.path("npy/tokens_u16.npy"), folder.resolve("x"), "megatron");
        try (TokenStore store = TokenStore.open(folder.resolve("x"));
                TensorStore source = TensorStore.open(Fixtures.path("npy/tokens_u16.npy"))) {
            assertEquals(1, store.documentCount());
            assertEquals(-1, source.tensor(0).segment().mismatch(Converted.tokens(store).segment()));
        }
    }

    @Test
    void documentStartsThatDoNotAscendAreRefused() throws Exception {
        for (long[] starts : new long[][] {{0, 3, 2, 4}, {1, 4}, {0, 5}, {0, -1, 4}, {}}) {
            Path source = folder.resolve("bad.safetensors");
            byte[] bytes = new byte[8 * starts.length];
            MemorySegment.copy(MemorySegment.ofArray(starts), 0, MemorySegment.ofArray(bytes), 0, bytes.length);
            SafetensorsWriter.write(source, Map.of(
                    "tokens", Tensor.of(MemorySegment.ofArray(new byte[8]), DType.U16, 4),
                    "document_starts", Tensor.of(MemorySegment.ofArray(bytes), DType.I64, starts.length)), Map.of(),
                    IfExists.REPLACE);
            assertThrows(ConversionException.class,
                    () -> Converted.run(source, folder.resolve("x"), "megatron"));
        }
    }

    @Test
    void tensorsOfWhichNoneFitsAreRefusedByName() throws Exception {
        Path floats = Fixtures.path("npy/le_f2_2d_C.npy");
        assertEquals("cannot convert the store to megatron; supported targets: [npy, safetensors]",
                assertThrows(ConversionException.class,
                        () -> Converted.run(floats, folder.resolve("x"), "megatron")).getMessage());
        Path several = Fixtures.path("npz/stored.npz");
        String message = assertThrows(ConversionException.class,
                () -> Converted.run(several, folder.resolve("x.npy"), "npy")).getMessage();
        assertTrue(message.startsWith("npy holds a tensor, found [") && message.contains("tokens: u16[4000]"),
                message);
        assertThrows(ConversionException.class, () -> Converted.run(several, folder.resolve("x.safetensors"),
                "safetensors", conversion -> conversion.fields(List.of("nothing"))));
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void rawRowsBecomeAnArray() throws Exception {
        Path raw = folder.resolve("rows.raw");
        byte[] bytes = new byte[6 * 4 * 10_000];
        new Random(5).nextBytes(bytes);
        Files.write(raw, bytes);
        OpenOptions options = OpenOptions.DEFAULT.withFormat("raw").withDType(DType.F32).withShape(List.of(-1L, 6L));
        try (Store store = Store.open(raw, options)) {
            new Conversion(store, folder.resolve("rows.npy"), "npy").run();
        }
        NpyWriter.write(folder.resolve("expected.npy"),
                Tensor.of(MemorySegment.ofArray(bytes), DType.F32, 10_000, 6), IfExists.FAIL);
        assertEquals(-1, Files.mismatch(folder.resolve("expected.npy"), folder.resolve("rows.npy")));
    }

    @Test
    void aFileThatShrinksWhileItIsReadIsNamed() throws IOException {
        Path source = folder.resolve("big.npy");
        NpyWriter.write(source, Tensor.of(MemorySegment.ofArray(new byte[20 << 20]), DType.U8, 20 << 20),
                IfExists.FAIL);
        try (TensorStore store = TensorStore.open(source)) {
            Conversion conversion = new Conversion(store, folder.resolve("x.npy"), "npy")
                    .progress((done, _) -> {
                        try (var channel = FileChannel.open(source, StandardOpenOption.WRITE)) {
                            channel.truncate(1 << 20);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
            String message = assertThrows(IOException.class, conversion::run).getMessage();
            assertTrue(message.contains("big.npy"), message);
        }
        assertEquals(List.of("big.npy", "big.npy.crc32c"), Folders.names(folder));
        assertThrows(IOException.class, () -> Inspection.of(folder.resolve("x.npy"), Depth.STRUCTURE));
    }
}
