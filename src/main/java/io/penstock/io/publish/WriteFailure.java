package io.penstock.io.publish;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * What stopped a writer, told by the name of the store. The OS names the hidden file that it was asked for, or none;
 * neither says to a user what was not written.
 */
public final class WriteFailure {

    private WriteFailure() {
    }

    /**
     * A step of a writer.
     *
     * @param <T> what it gives
     */
    @FunctionalInterface
    public interface Step<T> {

        /**
         * Does it.
         *
         * @return the result
         * @throws IOException if it fails
         */
        T run() throws IOException;
    }

    /**
     * Runs a step of a writer.
     *
     * @param <T> what it gives
     * @param target the store that is written
     * @param step the step
     * @return the result
     * @throws IOException if it fails; if that is an error of the OS on the way to the store, it names the store
     */
    public static <T> T naming(Path target, Step<T> step) throws IOException {
        try {
            return step.run();
        } catch (IOException e) {
            throw named(target, e);
        } catch (UncheckedIOException e) {
            throw named(target, e.getCause());
        }
    }

    /** Other kinds of errors say what they are about: a malformed source, an interrupt. */
    private static IOException named(Path target, IOException e) {
        String reason;
        if (e instanceof FileSystemException named && named.getFile() != null && isHidden(target, named.getFile())) {
            reason = named.getFile() + ": " + reason(named);
        } else if (e.getClass() == IOException.class && !isNamed(target, e.getMessage())) {
            reason = e.getMessage();
        } else {
            return e;
        }
        return new IOException(target + ": cannot be written: " + reason, e);
    }

    private static boolean isNamed(Path target, String message) {
        String beside = Folder.of(target).resolve("x").toString();
        String folder = beside.substring(0, beside.length() - 1);
        return message != null && (message.startsWith(target.toString())
                || message.startsWith(folder) && !message.startsWith(folder + "."));
    }

    /** Whether a path is one that the writer alone knows, or that of the folder. */
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
            case AccessDeniedException _ -> "permission denied";
            case NoSuchFileException _ -> "no such file";
            case FileAlreadyExistsException _ -> "exists already";
            case DirectoryNotEmptyException _ -> "the folder is not empty";
            default -> e.getClass().getSimpleName();
        };
    }
}
