// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.publish.Folder;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs the most frequent commands on a small store, without output, to create the launcher's ahead-of-time cache. The
 * JVM stores the classes that a run loads and links, and starts the next run with them.
 *
 * <p>It covers every stage from a token store to a batch, in place and copied.
 */
final class Rehearsal {

    private static final List<String> RUNS = List.of(
            "inspect STORE",
            "batches STORE --window 128 --batch 8 --limit 2",
            "explain STORE --window 128 --batch 8 --step 3",
            "stream STORE --window 128 --batch 16 --steps 200 --device host",
            "stream STORE --window 128 --batch 16 --steps 200 --device host --json --workers 0",
            "stream STORE --window 128 --batch 16 --steps 100 --device host --transfer copy --tokens-as i64",
            "stream STORE --documents --max-length 256 --batch 8 --steps 50 --device auto --step-ms 0.1",
            "stream STORE --window 128",
            "tune STORE --window 128 --budget 100ms --device host",
            "devices",
            "--help",
            "stream");

    /** The rehearsal stops after this time; the cache holds what it loaded until then. */
    private static final long MOST_MILLIS = 20_000;

    public static void main(String[] args) throws IOException {
        interruptLater(Thread.currentThread());
        long begin = System.nanoTime();
        Path folder = Files.createTempDirectory("penstock-rehearsal-");
        try {
            run("quickstart --keep STORE", folder);
            for (String line : RUNS) {
                if (System.nanoTime() - begin > MOST_MILLIS * 1_000_000) {
                    break;
                }
                run(line, folder.resolve("tokens"));
            }
        } finally {
            Folder.delete(folder);
        }
    }

    private static void interruptLater(Thread rehearsal) {
        Thread.ofPlatform().daemon().name("penstock-rehearsal-end").start(() -> {
            try {
                Thread.sleep(MOST_MILLIS);
                rehearsal.interrupt();
            } catch (InterruptedException _) {
                // Never interrupted; the thread ends with the process.
            }
        });
    }

    private static void run(String line, Path store) {
        String[] words = Stream.of(line.split(" ")).map(word -> word.equals("STORE") ? store.toString() : word)
                .toArray(String[]::new);
        PrintWriter nowhere = new PrintWriter(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        Penstock.commandLine(words).setOut(nowhere).setErr(nowhere).execute(words);
    }
}
