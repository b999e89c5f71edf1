// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * How long opening a folder of 100,000 files of a table takes: links, by turns, of the files that are named. It opens
 * the folder seven times; the first time also writes the index beside it, which later ones read.
 *
 * <pre>{@code
 * java --enable-native-access=ALL-UNNAMED -cp "$(bench/class-path)" io.penstock.bench.ManyFiles FOLDER FILE…
 * }</pre>
 */
public final class ManyFiles {

    private static final int FILES = Integer.getInteger("files", 100_000);
    private static final int ROUNDS = 7;
    private static final double NANOS = 1e9;

    private ManyFiles() {
    }

    /** Makes the folder unless it is there, and opens it. */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(folder);
            for (int i = 0; i < FILES; i++) {
                Path file = Path.of(args[1 + i % (args.length - 1)]);
                String name = file.getFileName().toString();
                Files.createLink(folder.resolve(String.format(Locale.ROOT, "part-%06d%s", i,
                        name.substring(name.lastIndexOf('.')))), file);
            }
        }
        for (int round = 0; round < ROUNDS; round++) {
            long cpu = cpuNanos();
            long begin = System.nanoTime();
            try (RecordStore store = RecordStore.open(folder)) {
                System.out.printf(Locale.ROOT, "%.2f s, %.2f s of CPU of the process: %,d rows%n",
                        (System.nanoTime() - begin) / NANOS, (cpuNanos() - cpu) / NANOS, store.size());
            }
        }
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
