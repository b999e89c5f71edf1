// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Turns OS errors of a writer into errors that name the store. The OS names a hidden file, or none, which tells a user
 * nothing.
 */
final class WriteFailure {

    /** Runs a step of a writer; an OS error on the store's files names the store. */
    static <T extends @Nullable Object> T naming(Path target, StagingFolder.Step<T> step) throws IOException {
        try {
            return step.run();
        } catch (IOException e) {
            throw named(target, e);
        } catch (UncheckedIOException e) {
            throw named(target, Objects.requireNonNull(e.getCause()));
        }
    }

    /** Runs the cleanup after a failure; its own failure is suppressed. */
    static void after(Exception failure, @Nullable Closeable cleanup) {
        try {
            if (cleanup != null) {
                cleanup.close();
            }
        } catch (IOException | UncheckedIOException e) {
            failure.addSuppressed(e);
        }
    }

    /** Adds the store's name to OS errors; others, such as a malformed source or an interrupt, explain themselves. */
    private static IOException named(Path target, IOException e) {
        String reason;
        if (e instanceof NoSuchFileException missing && missing.getReason() == null
                && Files.notExists(Folder.of(target))) {
            reason = "there is no folder " + Folder.of(target).toAbsolutePath() + "; create it first";
        } else if (e instanceof FileSystemException named && named.getFile() != null
                && isHidden(target, named.getFile())) {
            reason = named instanceof AccessDeniedException
                    ? "permission denied in the folder " + Folder.of(target).toAbsolutePath()
                    : named.getFile() + ": " + reason(named);
        } else if (e.getClass() == IOException.class && !isNamed(target, e.getMessage())) {
            reason = e.getMessage();
        } else {
            return e;
        }
        return new IOException(target + ": cannot be written: " + reason, e);
    }

    private static boolean isNamed(Path target, @Nullable String message) {
        String beside = Folder.of(target).resolve("x").toString();
        String folder = beside.substring(0, beside.length() - 1);
        return message != null && (message.startsWith(target.toString())
                || message.startsWith(folder) && !message.startsWith(folder + "."));
    }

    /** Tells whether a path is a hidden file of the writer, or the folder. */
    private static boolean isHidden(Path target, String file) {
        for (Path part : Path.of(file)) {
            if (part.toString().startsWith("." + target.getFileName() + ".")) {
                return true;
            }
        }
        return Path.of(file).equals(Folder.of(target));
    }

    private static String reason(FileSystemException e) {
        return e.getReason() != null ? e.getReason() : switch (e) {
            case NoSuchFileException _ -> "no such file";
            case FileAlreadyExistsException _ -> "exists already";
            case DirectoryNotEmptyException _ -> "the folder is not empty";
            default -> e.getClass().getSimpleName();
        };
    }
}
