// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.TokenStore;
import io.penstock.testing.Folders;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.Signals;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Full disks, file size limits, signals and kills, each met by a writer in a process of its own. */
@Tag("slow")
@EnabledOnOs(OS.LINUX)
class MegatronWriterFaultsTest {

    private static final long WAIT_SECONDS = 600;

    @TempDir
    private Path folder;

    /** The process: writes documents of 1000 tokens in two parts, for as many rounds as it is told. */
    static final class Child {

        private Child() {
        }

        public static void main(String[] args) throws Exception {
            Path prefix = Path.of(args[0]);
            long rounds = Long.parseLong(args[1]);
            int[] tokens = new int[1000];
            try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
                MegatronPart first = writer.part();
                MegatronPart second = writer.part();
                for (long r = 0; r < rounds; r++) {
                    for (MegatronPart part : List.of(first, second)) {
                        part.append(tokens, 0, tokens.length);
                        part.endDocument();
                    }
                    if (r == 2000) {
                        System.out.println("writing");
                    }
                }
                writer.commit();
                System.out.println("committed");
            } catch (IOException e) {
                System.out.println("IOException: " + e.getMessage());
                System.exit(3);
            }
        }
    }

    private static final long WITHOUT_END = Long.MAX_VALUE;

    private static String java(Path prefix, long rounds) {
        List<String> command = JavaCommand.of();
        command.addAll(List.of(Child.class.getName(), prefix.toString(), Long.toString(rounds)));
        return "'" + String.join("' '", command) + "'";
    }

    private static Process start(String... shell) throws IOException {
        List<String> command = new ArrayList<>(List.of(shell));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String finish(Process process) throws IOException, InterruptedException {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(WAIT_SECONDS, TimeUnit.SECONDS), output);
        return output;
    }

    private Process writing(Path prefix) throws IOException {
        Process process = start("sh", "-c", "exec " + java(prefix, WITHOUT_END));
        assertEquals("writing", process.inputReader().readLine());
        return process;
    }

    @Test
    void aFileThatMayNotGrowFurtherFailsWithItsNameAndLeavesNothing() throws Exception {
        Path prefix = folder.resolve("corpus");
        Process process = start("sh", "-c", "ulimit -f 2048; exec " + java(prefix, WITHOUT_END));
        String output = finish(process);
        assertEquals(3, process.exitValue(), output);
        assertTrue(output.contains("IOException: " + prefix + ".bin: cannot be written at byte "), output);
        assertTrue(output.contains("File too large"), output);
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void aLimitThatOnlyTheMergedFileMeetsFailsInTheCommitAndLeavesNothing() throws Exception {
        Path prefix = folder.resolve("corpus");
        // 2 parts of 1000 rounds of 2000 bytes each: either fits in 3 MiB, the two together do not.
        Process process = start("bash", "-c", "ulimit -f 3072; exec " + java(prefix, 1000));
        String output = finish(process);
        assertEquals(3, process.exitValue(), output);
        assertTrue(output.contains("IOException: " + prefix + ".bin: cannot be written"), output);
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void aFullDiskFailsWithTheFilesNameAndLeavesNothing() throws Exception {
        Process probe = start("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=8m tmpfs '" + folder + "'");
        String refusal = finish(probe);
        Assumptions.assumeTrue(probe.exitValue() == 0, "no file system may be mounted here: " + refusal);
        Path prefix = folder.resolve("corpus");
        Process process = start("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=8m tmpfs '" + folder + "' && "
                + java(prefix, WITHOUT_END) + "; echo status $?; ls -A '" + folder + "' | wc -l");
        String output = finish(process);
        assertTrue(output.contains("IOException: " + prefix + ".bin: cannot be written at byte "), output);
        assertTrue(output.contains("No space left on device"), output);
        assertTrue(output.strip().endsWith("status 3\n0"), output);
    }

    @Test
    void aLockThatCannotBeWrittenIsNamedAndLeavesNothing() throws Exception {
        Path prefix = folder.resolve("corpus");
        String output = finish(start("sh", "-c", "ulimit -f 0; exec " + java(prefix, 10)));
        assertTrue(output.contains("IOException: " + prefix + ": "), output);
        assertTrue(output.contains(".corpus.writing/lock cannot be locked: File too large"), output);
        assertEquals(List.of(), Folders.names(folder));
    }

    @Test
    void aTerminatedWriterLeavesNothing() throws Exception {
        for (int signal : new int[] {Signals.SIGTERM, Signals.SIGINT, Signals.SIGHUP}) {
            Process process = writing(folder.resolve("corpus"));
            try {
                assertEquals(List.of(".corpus.writing"), Folders.names(folder));
                if (signal != Signals.SIGTERM && Signals.isIgnored(signal, process)) {
                    continue;
                }
                Signals.send(signal, process);
                assertTrue(process.waitFor(WAIT_SECONDS, TimeUnit.SECONDS), "signal " + signal);
                assertNotEquals(0, process.exitValue());
                assertEquals(List.of(), Folders.names(folder), "signal " + signal);
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    }

    @Test
    void aKilledWriterLeavesNoStoreAndDoesNotBlockTheNextWriter() throws Exception {
        Path prefix = folder.resolve("corpus");
        Process process = writing(prefix);
        process.destroyForcibly().waitFor();
        assertEquals(List.of(".corpus.writing"), Folders.names(folder));
        assertThrows(IOException.class, () -> TokenStore.open(prefix));
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            MegatronPart part = writer.part();
            part.append(new int[] {1}, 0, 1);
            part.endDocument();
            writer.commit();
        }
        assertEquals(List.of("corpus.bin", "corpus.bin.crc32c", "corpus.idx", "corpus.idx.crc32c", "corpus.sha256"),
                Folders.names(folder));
    }

    @Test
    void aWriterInAnotherProcessIsRefusedWhileTheFirstGoesOn() throws Exception {
        Path prefix = folder.resolve("corpus");
        Process first = writing(prefix);
        try {
            String message = assertThrows(IOException.class,
                    () -> MegatronWriter.create(prefix, DType.U16, IfExists.REPLACE)).getMessage();
            assertTrue(message.contains("another process is writing it"), message);
            assertTrue(first.isAlive());
            assertEquals(List.of(".corpus.writing"), Folders.names(folder));
        } finally {
            first.destroy();
            first.waitFor();
        }
        MegatronWriter.create(prefix, DType.U16, IfExists.REPLACE).close();
    }

    @Test
    void aSecondAttemptInThisProcessDoesNotOpenTheStoreToOtherProcesses() throws Exception {
        Path prefix = folder.resolve("corpus");
        try (MegatronWriter writer = MegatronWriter.create(prefix, DType.U16, IfExists.FAIL)) {
            assertThrows(IOException.class, () -> MegatronWriter.create(prefix, DType.U16, IfExists.FAIL));
            Process process = start("sh", "-c", "exec " + java(prefix, 10));
            String output = finish(process);
            assertTrue(output.contains("another process is writing it"), output);
            MegatronPart part = writer.part();
            part.append(new int[] {1}, 0, 1);
            part.endDocument();
            writer.commit();
        }
        assertEquals(List.of("corpus.bin", "corpus.bin.crc32c", "corpus.idx", "corpus.idx.crc32c", "corpus.sha256"),
                Folders.names(folder));
    }

    @Test
    void sha256sumChecksWhatWasWritten() throws Exception {
        Process process = start("sh", "-c", java(folder.resolve("corpus"), 10) + " && cd '" + folder
                + "' && sha256sum -c corpus.sha256");
        String output = finish(process);
        assertTrue(output.contains("corpus.bin: OK\ncorpus.idx: OK"), output);
    }
}
