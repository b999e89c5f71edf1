// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a loader costs once it runs, and what it leaves behind: nothing. */
class SteadyStateTest {

    @TempDir
    Path folder;

    @Test
    @Tag("slow")
    void aBatchAllocatesNextToNothingAndMemoryStaysFlat() throws Exception {
        ChildJvm.Result result = new ChildJvm().optimized().run(SteadyProgram.class, folder.toString());
        System.out.print(result.output());
        assertEquals(0, result.exitCode());
    }

    /** With its clock read, phases marked and a stage, the device's part allocates nothing either. */
    @Test
    @Tag("slow")
    void aBatchThatIsTimedOnADeviceAllocatesNothing() throws Exception {
        ChildJvm.Result result = new ChildJvm().library(CudaSimulator.build(folder))
                .variable("SIM_CUDA_KERNELS", CudaSimulator.buildKernels(folder))
                .run(SteadyProgram.class, folder.toString(), "cuda");
        System.out.print(result.output());
        assertEquals(0, result.exitCode());
    }

    static void assertLeftNothing(String name, Path file) throws IOException {
        assertEquals(List.of(), Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(thread -> thread.startsWith(name)).toList());
        Path maps = Path.of("/proc/self/maps");
        if (Files.exists(maps)) {
            assertEquals(List.of(), Files.readAllLines(maps).stream()
                    .filter(line -> line.contains(file.getFileName().toString())).toList());
            try (var open = Files.list(Path.of("/proc/self/fd"))) {
                assertEquals(List.of(), open.filter(fd -> {
                    try {
                        return Files.readSymbolicLink(fd).equals(file.toRealPath());
                    } catch (IOException _) {
                        return false;
                    }
                }).toList());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"IN_PLACE, false", "COPY, false", "IN_PLACE, true", "COPY, true"})
    void anAbandonedIterationLeavesNoThreadAndNoMapping(TransferMode transfer, boolean byException) throws IOException {
        Path file = Corpora.rawU16(folder, 100_000, 4);
        String name = "abandoned-" + transfer + "-" + byException;
        for (int round = 0; round < 20; round++) {
            try (TokenStore store = TokenStore.open(file, "nanogpt");
                    DataLoader loader = DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).workers(3)
                            .name(name)
                            .transfer(transfer).open()) {
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        if (byException && batch.number() == round) {
                            throw new IllegalStateException("the trainer failed");
                        }
                    }
                    if (batch.toString().equals("batch (closed)") && round % 3 == 0) {
                        break;
                    }
                }
            } catch (IllegalStateException e) {
                assertEquals("the trainer failed", e.getMessage());
            }
            assertLeftNothing(name, file);
        }
    }

    @Test
    void aFileThatShrinksUnderTheMappingIsAnErrorThatNamesItAndNotACrash() throws IOException {
        assumeTrue(System.getProperty("os.name").equals("Linux"));
        for (ReadMode read : ReadMode.values()) {
            for (boolean widened : new boolean[] {false, true}) {
                Path file = Corpora.rawU16(folder, 500_000, read.ordinal() + (widened ? 10 : 5));
                try (TokenStore store = TokenStore.open(file, "nanogpt");
                        DataLoader loader = DataLoader.builder(TokenWindows.of(store, 256)).batchSize(16).shuffle(1)
                                .collator(widened ? CausalLm.widened(DType.I32) : CausalLm.narrow())
                                .readMode(read).workers(2).open()) {
                    takeAndClose(loader, 50);
                    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.truncate(8192);
                    }
                    BatchException error = null;
                    for (int i = 0; i < 1_000 && error == null; i++) {
                        try {
                            takeAndClose(loader, 1);
                        } catch (BatchException e) {
                            error = e;
                        }
                    }
                    assertTrue(error != null, read + ": no error");
                    assertTrue(error.getMessage().contains(file.toString())
                            && error.getMessage().contains("shrank"), error.getMessage());
                }
            }
        }
    }

    private static void takeAndClose(DataLoader loader, int batches) {
        for (int i = 0; i < batches; i++) {
            loader.next().close();
        }
    }
}
