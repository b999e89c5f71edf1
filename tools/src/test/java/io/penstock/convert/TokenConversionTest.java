// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.testing.Digests;
import io.penstock.testing.Folders;
import io.penstock.testing.MemoryTokenStore;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of tokens, against the digests of the libraries that wrote them. */
class TokenConversionTest {

    private static final String[] KINDS = {"megatron", "nanogpt", "llmc", "datatrove"};

    @TempDir
    private Path folder;

    @Test
    void everyFixtureOfTokensBecomesMegatronsWithTheSameDocuments() throws Exception {
        for (Fixtures.Entry entry : Converted.readable(KINDS)) {
            Path target = folder.resolve(entry.toString().replaceAll("[/.]", "-"));
            ConversionSummary written = Converted.run(entry.path(), target, "megatron");
            try (TokenStore source = TokenStore.open(entry.path()); TokenStore store = TokenStore.open(target)) {
                Converted.assertSameTokens(source, store);
                assertEquals(source.documentCount(), written.records());
                assertEquals(source.dtype() == DType.U32 ? DType.I32 : source.dtype(), store.dtype());
                assertEquals(source.dtype() == DType.U32, written.lost().contains("dtype: u32 becomes i32"));
                assertEquals(Converted.sha256(entry.arrays(), "tokens"),
                        Digests.of(Converted.tokens(store).segment()), entry.toString());
                long bytes = 0;
                for (Path file : written.files()) {
                    bytes += Files.size(file);
                }
                assertEquals(bytes, written.bytes());
            }
        }
    }

    @Test
    void everyFixtureOfTokensBecomesOneArray() throws Exception {
        for (Fixtures.Entry entry : Converted.readable(KINDS)) {
            Path target = folder.resolve(entry.toString().replaceAll("[/.]", "-") + ".npy");
            ConversionSummary written = Converted.run(entry.path(), target, "npy");
            try (TokenStore source = TokenStore.open(entry.path()); TensorStore store = TensorStore.open(target)) {
                assertEquals(List.of(new TensorSpec("", source.dtype(), source.tokenCount())), store.tensors());
                assertEquals(Converted.sha256(entry.arrays(), "tokens"), Digests.of(store.tensor(0).segment()));
                assertEquals(source.documentCount() > 1,
                        written.lost().stream().anyMatch(lost -> lost.startsWith("document boundaries: ")));
            }
        }
    }

    @Test
    void tokensAndDocumentsGoToSafetensorsAndBack() throws Exception {
        for (Fixtures.Entry entry : Converted.readable(KINDS)) {
            Path there = folder.resolve(entry.toString().replaceAll("[/.]", "-") + ".safetensors");
            Path back = folder.resolve(entry.toString().replaceAll("[/.]", "-"));
            Converted.run(entry.path(), there, "safetensors");
            try (TensorStore store = TensorStore.open(there)) {
                int tokens = store.tensors().stream().map(TensorSpec::name).toList().indexOf("tokens");
                assertEquals(Converted.sha256(entry.arrays(), "tokens"), Digests.of(store.tensor(tokens).segment()));
                int mask = store.tensors().stream().map(TensorSpec::name).toList().indexOf("loss_mask");
                assertEquals(entry.arrays().stream().anyMatch(array -> array.get("name").equals("loss_mask")),
                        mask >= 0);
                if (mask >= 0) {
                    assertEquals(Converted.sha256(entry.arrays(), "loss_mask"),
                            Digests.of(store.tensor(mask).segment()));
                }
            }
            Converted.run(there, back, "megatron");
            try (TokenStore source = TokenStore.open(entry.path()); TokenStore store = TokenStore.open(back)) {
                Converted.assertSameTokens(source, store);
            }
        }
    }

    @Test
    void whatTheFormatHasNoPlaceForIsSaid() throws Exception {
        assertEquals(List.of("sequence boundaries within documents", "sequence modes"),
                Converted.run(Fixtures.path("megatron/multimodal_i32.idx"),
                folder.resolve("a"), "megatron").lost());
        assertEquals(List.of("loss mask"), Converted.run(Fixtures.path("datatrove/with_loss_mask.ds"),
                folder.resolve("b"), "megatron").lost());
    }

    @Test
    void emptyDocumentsAndThoseLongerThanAPieceAreKept() throws Exception {
        long[] starts = {0, 0, 5, 5, 900_000, 900_001, 900_001};
        for (DType dtype : new DType[] {DType.U8, DType.I8, DType.U16, DType.I16, DType.I32, DType.I64}) {
            try (TokenStore source = new MemoryTokenStore(dtype, starts)) {
                Path target = folder.resolve(dtype.toString());
                new Conversion(source, target, "megatron").run();
                Path wide = folder.resolve(dtype + "-wide");
                new Conversion(source, wide, "megatron").tokenDType(DType.I64).run();
                try (TokenStore store = TokenStore.open(target); TokenStore wider = TokenStore.open(wide)) {
                    assertEquals(dtype, store.dtype());
                    assertEquals(DType.I64, wider.dtype());
                    Converted.assertSameTokens(source, store);
                    Converted.assertSameTokens(source, wider);
                }
            }
        }
    }

    @Test
    void aTokenThatDoesNotFitIsNamedAndNothingIsLeft() throws Exception {
        try (MemoryTokenStore source = new MemoryTokenStore(DType.U32, new long[] {0, 7, 1000})) {
            long first = 0;
            while (source.token(first) <= Integer.MAX_VALUE) {
                first++;
            }
            String where = first < 7 ? "document 0, token " + first : "document 1, token " + (first - 7);
            ConversionException refused = assertThrows(ConversionException.class,
                    () -> new Conversion(source, folder.resolve("x"), "megatron").run());
            assertEquals(where + ": found " + source.token(first)
                    + ", expected -2147483648 to 2147483647, the range of i32", refused.getMessage());
            assertEquals(List.of(), Folders.names(folder));
            new Conversion(source, folder.resolve("x"), "megatron").tokenDType(DType.I64).run();
            try (TokenStore store = TokenStore.open(folder.resolve("x"))) {
                Converted.assertSameTokens(source, store);
            }
        }
    }

    @Test
    void whatIsThereIsKeptUnlessItIsToBeReplaced() throws Exception {
        Path source = Fixtures.path("nanogpt/bpe/val.bin");
        for (String format : List.of("megatron", "npy", "safetensors")) {
            Path target = folder.resolve("x" + (format.equals("megatron") ? ".bin" : "." + format));
            Files.writeString(target, "other");
            assertThrows(FileAlreadyExistsException.class, () -> Converted.run(source, target, format));
            assertEquals("other", Files.readString(target));
            Converted.run(source, target, format, conversion -> conversion.ifExists(IfExists.REPLACE));
            assertTrue(Files.size(target) > 5);
        }
    }

    @Test
    void progressCountsTheBytesOfTheTokens() throws Exception {
        List<Long> told = new ArrayList<>();
        try (TokenStore source = new MemoryTokenStore(DType.U16, 5_000_000)) {
            new Conversion(source, folder.resolve("x.npy"), "npy").progress((done, total) -> {
                assertEquals(10_000_000, total);
                told.add(done);
            }).run();
        }
        assertTrue(told.size() >= 9, told.toString());
        assertArrayEquals(told.stream().sorted().toArray(), told.toArray());
        assertEquals(10_000_000, told.getLast());
    }

    @Test
    void anInterruptEndsItAndLeavesNothing() throws Exception {
        for (String format : List.of("megatron", "npy", "safetensors")) {
            try (TokenStore source = new MemoryTokenStore(DType.U16, 5_000_000)) {
                Conversion conversion = new Conversion(source, folder.resolve("x"), format)
                        .progress((done, _) -> {
                            if (done > 3_000_000) {
                                Thread.currentThread().interrupt();
                            }
                        });
                assertThrows(InterruptedException.class, conversion::run, format.toString());
                assertEquals(List.of(), Folders.names(folder), format.toString());
            }
        }
    }

    @Test
    void whatCannotBeMadeOfTokensIsRefused() throws IOException {
        try (TokenStore source = new MemoryTokenStore(DType.U16, 5)) {
            assertEquals("cannot convert the store to webdataset; supported targets: [megatron, npy, safetensors]",
                    assertThrows(ConversionException.class, () -> new Conversion(source, folder.resolve("x.tar"),
                            "webdataset").run()).getMessage());
            assertThrows(ConversionException.class, () -> new Conversion(source, folder.resolve("x"),
                    "megatron").tokenDType(DType.F32).run());
        }
        assertEquals(List.of(), Folders.names(folder));
    }
}
