package io.penstock.io.publish;

import io.penstock.io.CommittedFolder;
import io.penstock.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Brings the files of a {@link CommittedFolder} to their places: the steps behind the commit. */
final class Commit {

    private Commit() {
    }

    static byte[] surplusBytes(Collection<String> names) {
        return Json.write(List.copyOf(names)).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The stores beside a file whose committed folder has it, or what describes it.
     *
     * @return the paths that they are written by
     */
    static List<Path> unfinishedWith(Path file, String description) throws IOException {
        List<Path> stores = new ArrayList<>();
        for (Path committed : CommittedFolder.list(Folder.of(file), CommittedFolder::isName)) {
            if (Files.exists(committed.resolve(file.getFileName())) || Files.exists(committed.resolve(description))) {
                stores.add(file.resolveSibling(CommittedFolder.storeOf(committed).getFileName()));
            }
        }
        return stores;
    }

    /**
     * Moves all files of a committed folder to their places, deletes what the store no longer has, and then the folder.
     * For the one writer that the store has. Does nothing if there is no such folder.
     *
     * @throws IOException if a step fails; the store is then as whole as it was, and the next call goes on
     */
    static void finish(Path committed) throws IOException {
        if (!Files.isDirectory(committed)) {
            return;
        }
        Path folder = committed.getParent();
        Path list = CommittedFolder.surplusIn(committed);
        List<Path> files = new ArrayList<>(CommittedFolder.list(committed, file -> !file.equals(list)));
        files.sort(Comparator.comparingInt((Path file) -> -file.getFileName().toString().length())
                .thenComparing(file -> file.getFileName().toString()));
        int length = -1;
        for (Path file : files) {
            if (length >= 0 && file.getFileName().toString().length() < length) {
                Folder.flush(folder);   // after a power cut too, no file is in its place before what describes it
            }
            length = file.getFileName().toString().length();
            Files.move(file, folder.resolve(file.getFileName()), StandardCopyOption.ATOMIC_MOVE);
        }
        for (String name : CommittedFolder.surplusOf(committed)) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Folder.flush(folder);
        Files.deleteIfExists(list);
        Files.deleteIfExists(committed);
        Folder.flush(folder);
    }

    /** What an error behind the commit is told as. */
    static IOException unfinished(Path target, Path committed, IOException e) {
        String reason = e instanceof FileSystemException named
                ? named.getFile() + ": " + (named.getReason() == null ? e.getClass().getSimpleName()
                        : named.getReason()) : String.valueOf(e.getMessage());
        return new IOException(target + ": is written whole and replaces what was there, but its files cannot all be"
                + " moved from " + committed + " to their places: " + reason
                + " (penstock reads them where they are, and the next writer of this store goes on)", e);
    }
}
