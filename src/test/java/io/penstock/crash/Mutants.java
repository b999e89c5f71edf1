// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.testing.Digests;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/** Writers of one file, each with a fault that the harness must find, beside one that has none. */
final class Mutants {

    /** The writer that has no fault. */
    static final String SOUND = "a sound writer";

    private static final String FILE = "x.txt";
    private static final AtomicLong TEMPORARIES = new AtomicLong();

    private Mutants() {
    }

    /** A step of the sound writer. */
    private enum Step { FIXED_NAME, SYNC_FILE, KEEP_OLD, SYNC_FOLDER, REPORT, NAME_FILE, CHECK_WRITTEN }

    /** The writers, each with what the harness must say of it. */
    static Map<Writer, Pattern> all() {
        Map<Writer, Pattern> all = new LinkedHashMap<>();
        all.put(new Writer(SOUND, Writer.Promise.LASTS, FILE, (folder, generation, _) ->
                write(folder, generation, null), Mutants::read), Pattern.compile("nothing is to be found"));
        put(all, "renames before it syncs the file", Step.SYNC_FILE, "data lost .* is neither what it was nor");
        put(all, "removes the old file before it renames", Step.KEEP_OLD, "EIO at call .* is gone");
        put(all, "does not sync the folder", Step.SYNC_FOLDER, "all lost .* was said to be written, and is not");
        put(all, "keeps a failure to itself", Step.REPORT, "E.* at call .* was said to be written, and is not");
        put(all, "names its temporary file alone", Step.NAME_FILE, "the message names no file");
        put(all, "has other temporary files each time", Step.FIXED_NAME, "nothing lost: after the next run there is");
        put(all, "takes a short write for a whole one", Step.CHECK_WRITTEN,
                "SHORT at call .* was said to be written, and is not");
        all.put(new Writer("writes in place", Writer.Promise.LASTS, FILE, (folder, generation, _) -> {
            Path file = folder.resolve(FILE);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                write(channel, generation, true);
                channel.force(true);
            } catch (IOException e) {
                throw new IOException(file + ": " + e.getMessage(), e);
            }
            sync(folder);
        }, Mutants::read), Pattern.compile("nothing lost: .* is neither what it was nor what it is to be"));
        return all;
    }

    private static void put(Map<Writer, Pattern> all, String name, Step without, String found) {
        all.put(new Writer(name, Writer.Promise.LASTS, List.of(FILE), (_, _) -> { }, (folder, generation, _) ->
                write(folder, generation, without), Mutants::read), Pattern.compile(found));
    }

    private static void write(Path folder, int generation, Step without) throws IOException {
        Path file = folder.resolve(FILE);
        Path temporary = folder.resolve("." + FILE + "."
                + (without == Step.FIXED_NAME ? TEMPORARIES.getAndIncrement() : 0) + ".tmp");
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                write(channel, generation, without != Step.CHECK_WRITTEN);
                if (without != Step.SYNC_FILE) {
                    channel.force(true);
                }
            }
            if (without == Step.KEEP_OLD) {
                Files.deleteIfExists(file);
            }
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
            if (without != Step.SYNC_FOLDER) {
                sync(folder);
            }
        } catch (IOException e) {
            if (without != Step.REPORT) {
                throw without == Step.NAME_FILE ? e : new IOException(file + ": " + e.getMessage(), e);
            }
        }
    }

    private static void write(FileChannel channel, int generation, boolean whole) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(("generation " + generation + "\n").repeat(10 * generation).getBytes());
        do {
            channel.write(bytes);
        } while (whole && bytes.hasRemaining());
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            throw new IOException(folder.resolve(FILE) + ": " + e.getMessage(), e);
        }
    }

    private static Map<String, String> read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        return Files.exists(file) ? Map.of(FILE, Digests.of(MemorySegment.ofArray(Files.readAllBytes(file))))
                : Map.of();
    }
}
