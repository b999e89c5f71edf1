// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Feedback;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LedgerAudit;
import io.penstock.state.LoaderState;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LoaderLedgerTest {

    private static final Sampler MIX = Mixture.of(600, new Mixture.Source(Sampler.shuffled(300, 1), 0.5),
            new Mixture.Source(Sampler.shuffled(100, 2), 0.5));

    @TempDir
    private Path folder;

    private static Dataset numbers() {
        return Dataset.generate(400, List.of(new TensorSpec("number", DType.I64, 1)), "numbers",
                (sample, _, out) -> out.tensor(0).segment().setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, 0, sample));
    }

    private DataLoaderBuilder loader(int rank, int world) {
        return loader(folder, rank, world);
    }

    static DataLoaderBuilder loader(Path folder, int rank, int world) {
        return DataLoader.builder(numbers()).sampler(MIX).batchSize(4).workers(2)
                .shard(new Shard(rank, world, TailPolicy.EXACT)).ledger(folder);
    }

    static BatchSampler run() {
        return BatchSampler.of(MIX, 4, new Shard(0, 1, TailPolicy.EXACT)).withDataset(numbers().fingerprint());
    }

    private static List<Long> take(DataLoader loader, int steps) {
        List<Long> samples = new ArrayList<>();
        for (int step = 0; step < steps; step++) {
            try (Batch batch = loader.next()) {
                for (int row = 0; row < batch.valid(); row++) {
                    samples.add(batch.sample(row));
                }
            }
        }
        return samples;
    }

    /** Whatever the trainer asks for while it is interrupted, no step is missing. */
    @Test
    void anInterruptLosesNoStep() throws IOException {
        String chain;
        try (DataLoader loader = loader(0, 1).open()) {
            take(loader, 10);
            Thread.currentThread().interrupt();
            assertEquals(40, loader.state().position());
            assertTrue(Thread.interrupted());
            take(loader, 100);
            while (!loader.hasNext()) {
                Thread.onSpinWait();
            }
            chain = loader.state().chain();
            Thread.currentThread().interrupt();
        } finally {
            assertTrue(Thread.interrupted());
        }
        LedgerAudit audit = LedgerAudit.of(folder, Optional.of(run()));
        assertEquals(List.of(), audit.problems());
        assertEquals(110, audit.steps());
        assertEquals(chain, audit.chain());
    }

    private static final int RLIMIT_FSIZE = 1;

    /** Ends the limit of the size of files. */
    @SuppressWarnings("restricted")
    private static void makeRoom() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment unlimited = arena.allocateFrom(ValueLayout.JAVA_LONG, -1, -1);
            int _ = (int) Linker.nativeLinker().downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("setrlimit"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS))
                    .invokeExact(RLIMIT_FSIZE, unlimited);
        }
    }

    /** Runs a program whose files may not grow, in the folder of the ledger; returns what it prints. */
    private List<String> runWithoutRoom(Class<?> program) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -S -f 2 && exec \"$0\" \"$@\""));
        command.addAll(JavaCommand.of());
        command.addAll(List.of(program.getName(), folder.toString()));
        Process trainer = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = trainer.inputReader().lines().toList();
        assertEquals(0, trainer.waitFor(), lines.toString());
        return lines;
    }

    /** Takes a folder. Its ledger may not grow until it has failed. */
    static final class Trainer {

        private Trainer() {
        }

        public static void main(String[] args) throws Throwable {
            try (DataLoader loader = loader(Path.of(args[0]), 0, 1).open()) {
                take(loader, 40);
                for (int i = 0; i < 2; i++) {
                    System.out.println(assertThrows(UncheckedIOException.class, loader::state).getMessage());
                }
                int given = 40;
                try {
                    for (; given < 200; given++) {
                        take(loader, 1);
                    }
                } catch (UncheckedIOException e) {
                    System.out.println(given + ": " + e.getMessage());
                }
                System.out.println(assertThrows(IllegalStateException.class, loader::next).getMessage());
                makeRoom();
                System.out.println(loader.state().position() + " " + loader.state().chain());
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aLedgerThatCannotBeWrittenFailsAndIsWholeWhenItCanBeAgain() throws Exception {
        List<String> lines = runWithoutRoom(Trainer.class);
        String error = "the ledger cannot be written: File too large";
        LedgerAudit audit = LedgerAudit.of(folder, Optional.of(run()));
        assertEquals(List.of(error, error, "64: " + error, "the loader has failed: " + error, "256 " + audit.chain()),
                lines);
        assertEquals(List.of(), audit.problems());
        assertEquals(64, audit.steps());
    }

    /** Takes a folder. Batch 64 cannot be made, and its record is the first that is not written. */
    static final class TrainerWithABadBatch {

        private TrainerWithABadBatch() {
        }

        public static void main(String[] args) throws Throwable {
            Dataset bad = numbers().map("number", new TensorSpec("number", DType.I64, 1), "bad", (in, _, out) -> {
                if (in.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) == 256) {
                    throw new IllegalStateException("a bad sample");
                }
                out.segment().copyFrom(in.segment());
            });
            try (DataLoader loader = DataLoader.builder(bad).batchSize(4).workers(2).ledger(Path.of(args[0])).open()) {
                take(loader, 64);
                System.out.println(assertThrows(UncheckedIOException.class, loader::next).getMessage());
                makeRoom();
                System.out.println(assertThrows(IllegalStateException.class, loader::next).getMessage());
                System.out.println(loader.state().position() + " " + loader.state().chain());
            }
        }
    }

    /** Nor is a batch passed over whose failure the ledger would not have. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aFailedBatchThatCannotBeWrittenFailsTheLoader() throws Exception {
        List<String> lines = runWithoutRoom(TrainerWithABadBatch.class);
        String error = "the ledger cannot be written: File too large";
        LedgerAudit audit = LedgerAudit.of(folder, Optional.empty());
        assertEquals(List.of(error, "the loader has failed: " + error, "256 " + audit.chain()), lines);
        assertEquals(64, audit.steps());
    }

    /** Takes a folder. Seeks until the ledger has no room for the start of a run. */
    static final class Seeker {

        private Seeker() {
        }

        public static void main(String[] args) throws Throwable {
            try (DataLoader loader = loader(Path.of(args[0]), 0, 1).open()) {
                long epoch = 0;
                try {
                    for (; epoch < 100; epoch++) {
                        take(loader, 2);
                        loader.seek(epoch + 1);
                    }
                } catch (UncheckedIOException e) {
                    System.out.println(e.getMessage());
                }
                makeRoom();
                System.out.println(assertThrows(IllegalStateException.class, loader::next).getMessage());
                LoaderState state = loader.state();
                System.out.println(state.epoch() - epoch + " " + state.position() + " " + state.chain());
            }
        }
    }

    /** The state is that after what was given, not as many batches behind where the loader was to go. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aSeekThatCannotBeWrittenLeavesTheState() throws Exception {
        List<String> lines = runWithoutRoom(Seeker.class);
        String error = "the ledger cannot be written: File too large";
        assertEquals(List.of(error, "the loader has failed: " + error,
                "0 8 " + LedgerAudit.of(folder, Optional.of(run())).chain()), lines);
    }

    @Test
    void feedbackIsReplayedByRunsThatResumeWithOtherRanks() throws IOException {
        LoaderState before = null;
        LoaderState after = null;
        for (int rank = 0; rank < 2; rank++) {
            try (DataLoader loader = loader(rank, 2).open()) {
                take(loader, 10);
                before = loader.state();
                assertEquals(List.of(255.0, 35.0), loader.report(Feedback.multiplicative(1), 3, 1));
                take(loader, 20);
                LoaderState state = loader.state();
                assertTrue(after == null || after.equals(state), "ranks agree");
                after = state;
            }
        }
        assertEquals(80, before.position());
        List<Long> rest;
        try (DataLoader loader = loader(0, 1).resume(after).endEpoch(2).open()) {
            rest = take(loader, 30);
        }
        LedgerAudit audit = LedgerAudit.of(folder, Optional.of(run()));
        assertEquals(List.of(), audit.problems());
        assertEquals(60, audit.steps());
        long first = rest.stream().filter(sample -> sample < 300).count();
        assertEquals(255.0 / 290, (double) first / rest.size(), 0.02);
    }

    @Test
    void editsAndSeeksAreInTheLedger() throws IOException {
        try (DataLoader loader = loader(0, 1).open()) {
            take(loader, 10);
            LoaderState here = loader.state();
            take(loader, 5);
            loader.seek(here.edit(run()).exciseSteps(12, 13).state());
            take(loader, 300);
            LedgerAudit audit = LedgerAudit.of(folder, Optional.of(run()));
            assertEquals(5 + 10, audit.takenBack() + 10, audit.problems().toString());
            LoaderState end = loader.state();
            audit = LedgerAudit.of(folder, Optional.of(run()));
            assertEquals(List.of(), audit.problems());
            assertEquals(310, audit.steps());
            assertEquals(end.chain(), audit.chain());
        }
    }

    @Test
    void aRunWithAnEndGivesNothingBehindIt() {
        LoaderState state = LoaderState.before(run()).edit(run()).untilStep(20).state();
        try (DataLoader loader = loader(0, 1).resume(state).open()) {
            assertEquals(20, loader.stream().peek(Batch::close).count());
            LoaderState end = loader.state();
            try (DataLoader resumed = loader(0, 1).resume(end).open()) {
                assertTrue(!resumed.hasNext());
            }
            try (DataLoader longer = loader(0, 1).resume(end.edit(run()).untilStep(25).state()).open()) {
                assertEquals(5, longer.stream().peek(Batch::close).count());
            }
        }
    }

    @Test
    void feedbackOfAnOrderThatIsNoMixtureIsRefused() {
        try (DataLoader loader = DataLoader.builder(numbers()).shuffle(1).batchSize(4).open()) {
            assertThrows(IllegalArgumentException.class, () -> loader.report(Feedback.multiplicative(1), 1));
            assertEquals("", loader.state().chain());
        }
    }
}
