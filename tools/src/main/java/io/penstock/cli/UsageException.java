// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.os.PathBytes;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Options that conflict with each other or with the data. {@link Penstock} prints the message, and where the command's
 * help is.
 */
final class UsageException extends RuntimeException {

    private static final long serialVersionUID = 1;

    UsageException(String message) {
        super(message);
    }

    UsageException(String message, Throwable cause) {
        super(message, cause);
    }

    /** What options describe; what refuses them as arguments makes them wrong usage. */
    static <T> T valid(Supplier<T> described) {
        return valid("", described);
    }

    /** The same with words before the message, for example the option's name. */
    static <T> T valid(String prefix, Supplier<T> described) {
        try {
            return described.get();
        } catch (InvalidPathException e) {
            throw new UsageException(prefix + PathBytes.explain(e), e);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new UsageException(prefix + e.getMessage(), e);
        }
    }

    static void requireAtLeast(long least, String option, long found) {
        if (found < least) {
            throw new UsageException(option + ": found " + found + ", expected at least " + least);
        }
    }

    /** Fails before the work starts if the folder of an output file is missing; the writer reports other faults. */
    static void requireFolder(String option, @Nullable Path file) {
        Path folder = file == null ? null : file.toAbsolutePath().getParent();
        if (folder != null && (Files.notExists(folder) || Files.isRegularFile(folder))) {
            throw new UsageException(option + ": there is no folder " + folder + "; create it first");
        }
    }

    /** The same, or if there is a folder where the file is to be. */
    static void requireFile(String option, @Nullable Path file) {
        requireFolder(option, file);
        if (file != null && Files.isDirectory(file)) {
            throw new UsageException(option + ": " + file + " is a folder, expected a file");
        }
    }

    /** Fails before the work starts if a folder is not there and cannot be made, or is not to be written to. */
    static void requireOutputFolder(String option, @Nullable Path folder) {
        Path there = folder == null ? null : folder.toAbsolutePath().normalize();
        while (there != null && !Files.exists(there)) {
            there = there.getParent();
        }
        if (there != null && !Files.isDirectory(there)) {
            throw new UsageException(option + ": " + there + " is a file, expected a folder");
        }
        if (there != null && !Files.isWritable(there)) {
            throw new UsageException(option + ": no permission to write in the folder " + there);
        }
    }
}
