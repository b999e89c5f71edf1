// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.sampling.Permutation;
import io.penstock.testing.Digests;
import io.penstock.testing.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A loader in a process of its own, on a device that answers when the test says. */
@Tag("slow")
@Timeout(600)
class ColdLoaderTest {

    private static final int FILE_BYTES = 32 << 20;
    /** What a safepoint that waits for nothing would long be reached in. It may be more: nothing fails by it. */
    private static final long CONTROL_MILLIS = 300;

    @TempDir
    Path folder;

    /** The other process, told what to do and asked what came of it. */
    private record Trainer(Process process, BufferedReader answers, PrintStream commands) implements AutoCloseable {

        void tell(String command) {
            commands.println(command);
            commands.flush();
        }

        String answer() throws IOException {
            return answers.readLine();
        }

        @Override
        public void close() {
            commands.close();
            assertEquals(0, process.onExit().join().exitValue());
        }
    }

    @BeforeEach
    void needsFuse() {
        assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "no /dev/fuse that this user may write");
    }

    private static Trainer trainer(SlowFileSystem slow, String mode, long readAhead) throws IOException {
        List<String> command = JavaCommand.of("-Xmx32m");
        command.addAll(List.of(ColdTrainer.class.getName(), slow.file().toString(), mode, "" + readAhead));
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        var trainer = new Trainer(child, child.inputReader(StandardCharsets.US_ASCII),
                new PrintStream(child.getOutputStream(), false, StandardCharsets.US_ASCII));
        assertEquals("ready", trainer.answer());
        return trainer;
    }

    private static SlowFileSystem mounted(Path mount) {
        try {
            return new SlowFileSystem(mount, FILE_BYTES, 3);
        } catch (IOException e) {
            abort(e.getMessage());
            return null;
        }
    }

    private static String firstBatch(byte[] content) {
        int windowBytes = 2 * ColdTrainer.WINDOW_TOKENS;
        byte[] batch = new byte[ColdTrainer.BATCH * windowBytes];
        var order = new Permutation(content.length / windowBytes, ColdTrainer.SEED, 0);
        for (int row = 0; row < ColdTrainer.BATCH; row++) {
            System.arraycopy(content, (int) order.at(row) * windowBytes, batch, row * windowBytes, windowBytes);
        }
        return Digests.of(MemorySegment.ofArray(batch));
    }

    /** What touches the mapping waits in a page fault, and every safepoint with it: the control. */
    @Test
    void aSafepointDoesNotWaitForColdPages() throws Exception {
        for (String mode : new String[] {"mmap", "pread", "auto"}) {
            try (SlowFileSystem slow = mounted(Files.createTempDirectory(folder, mode));
                    Trainer trainer = trainer(slow, mode, mode.equals("mmap") ? 0 : -1)) {
                slow.hold();
                trainer.tell("open");
                if (mode.equals("mmap")) {
                    // A safepoint of the JVM's own may come before it says that the loader is open.
                    slow.awaitReads(1);
                    trainer.tell("collect");
                    Thread.sleep(CONTROL_MILLIS);
                    List<String> answers = new ArrayList<>();
                    while (trainer.answers.ready()) {
                        answers.add(trainer.answer());
                    }
                    assertFalse(answers.contains("collect"), "the control: a safepoint does not wait for a page fault");
                    slow.release();
                    while (answers.size() < 2) {
                        answers.add(trainer.answer());
                    }
                    assertEquals(List.of("open", "collect"), answers);
                } else {
                    assertEquals("open", trainer.answer());
                    slow.awaitReads(1);
                    trainer.tell("collect");
                    assertEquals("collect", trainer.answer(), mode + ": while all reads wait");
                    slow.release();
                }
                trainer.tell("next");
                assertEquals(firstBatch(slow.content()), trainer.answer(), mode);
            }
        }
    }

    /** The lead over the worker grows with each batch: the first one is let through. */
    @Test
    void aDeviceHasManyReadsAtOnceHoweverFewTheWorkers() throws Exception {
        try (SlowFileSystem slow = mounted(Files.createTempDirectory(folder, "slow"));
                Trainer trainer = trainer(slow, "auto", -1)) {
            slow.hold();
            trainer.tell("open");
            slow.awaitReads(ColdTrainer.BATCH + 1);
            slow.answer(ColdTrainer.BATCH);
            slow.awaitReads(2 * ColdTrainer.BATCH + 1);
            slow.release();
            assertEquals("open", trainer.answer());
            trainer.tell("next");
            assertEquals(firstBatch(slow.content()), trainer.answer());
        }
    }

    /** The control: nothing is read ahead, so a worker that reads one window after another has one read at a time. */
    @Test
    void withoutReadingAheadADeviceHasOneReadAtATime() throws Exception {
        try (SlowFileSystem slow = mounted(Files.createTempDirectory(folder, "slow"));
                Trainer trainer = trainer(slow, "auto", 0)) {
            slow.hold();
            trainer.tell("open");
            for (int i = 0; i < 2 * ColdTrainer.BATCH; i++) {
                slow.awaitReads(1);
                assertTrue(slow.reads() < 2, slow.reads() + " reads at once");
                slow.answer(1);
            }
            slow.release();
            assertEquals("open", trainer.answer());
            trainer.tell("next");
            assertEquals(firstBatch(slow.content()), trainer.answer());
        }
    }
}
