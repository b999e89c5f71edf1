// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.io.publish.Folder;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A folder {@code step-00000120} of a run's folder. It is complete once it has {@value Checkpoint#FILE_NAME}. Where a
 * step is saved again, its next folder is {@code step-00000120-2}: a complete one is never written to.
 *
 * @param path the folder
 * @param step the step in its name
 * @param copy how many times the step was saved, up to this folder
 */
record StepFolder(Path path, long step, long copy) implements Comparable<StepFolder> {

    private static final Pattern NAME = Pattern.compile("step-(\\d{8,18})(?:-(\\d{1,9}))?");
    private static final Comparator<StepFolder> IN_ORDER = Comparator.comparingLong(StepFolder::step)
            .thenComparingLong(StepFolder::copy);

    private static Optional<StepFolder> of(Path path) {
        Path name = path.getFileName();
        Matcher matcher = NAME.matcher(name == null ? "" : name.toString());
        return matcher.matches() ? Optional.of(new StepFolder(path, Long.parseLong(matcher.group(1)),
                matcher.group(2) == null ? 1 : Long.parseLong(matcher.group(2)))) : Optional.empty();
    }

    /** Returns all in a run's folder, the latest last; none if it does not exist. */
    private static List<StepFolder> all(Path run) throws IOException {
        List<StepFolder> all = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(run)) {
            for (Path path : paths) {
                Optional<StepFolder> named = of(path);
                if (named.isPresent() && attributes(path).filter(BasicFileAttributes::isDirectory).isPresent()) {
                    all.add(named.get());
                }
            }
        } catch (NoSuchFileException _) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw new IOException(run + ": cannot be read: " + e.getMessage(), e);
        }
        all.sort(null);
        return all;
    }

    /** Unlike {@link Files#exists}, takes no I/O error for an absent file: the run would begin again. */
    private static Optional<BasicFileAttributes> attributes(Path path) throws IOException {
        try {
            return Optional.of(Files.readAttributes(path, BasicFileAttributes.class));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }

    /** Returns whether a folder has the state of a checkpoint. */
    static boolean isComplete(Path folder) throws IOException {
        return attributes(folder.resolve(Checkpoint.FILE_NAME)).isPresent();
    }

    /** Returns the complete ones in a run's folder, the latest last. */
    static List<StepFolder> complete(Path run) throws IOException {
        List<StepFolder> complete = new ArrayList<>();
        for (StepFolder each : all(run)) {
            if (isComplete(each.path)) {
                complete.add(each);
            }
        }
        return complete;
    }

    /** Returns the complete ones beside a folder, the latest last; none if it is not of a step, or cannot be read. */
    static List<StepFolder> beside(Path folder) {
        Path absolute = folder.toAbsolutePath();
        if (of(absolute).isEmpty()) {
            return List.of();
        }
        try {
            return complete(Folder.of(folder)).stream().filter(each -> !each.path.equals(absolute))
                    .map(each -> new StepFolder(folder.resolveSibling(each.path.getFileName()), each.step, each.copy))
                    .toList();
        } catch (IOException _) {
            return List.of();
        }
    }

    /** Creates the next folder of a step, empty. */
    static StepFolder create(Path run, long step) throws IOException {
        Folder.create(run);
        long copy = 1;
        for (StepFolder each : all(run)) {
            if (!isComplete(each.path)) {
                if (each.step == step) {
                    each.delete();
                }
            } else if (each.step == step) {
                copy = each.copy + 1;
            } else if (each.step > step) {
                throw new FileAlreadyExistsException(each.path.toString(), null, "is the checkpoint of a later step"
                        + " than " + step + ", and the next start would resume from it: delete it, or save to another"
                        + " folder");
            }
        }
        String name = String.format(Locale.ROOT, "step-%08d", step) + (copy == 1 ? "" : "-" + copy);
        Path path = Files.createDirectory(run.resolve(name));
        Folder.flush(run);
        return new StepFolder(path, step, copy);
    }

    /** Deletes all but so many of the complete ones, and those before the latest that are not complete. */
    static void keepLatest(Path run, int count) throws IOException {
        List<StepFolder> complete = complete(run);
        if (complete.isEmpty()) {
            return;
        }
        List<StepFolder> kept = complete.subList(Math.max(0, complete.size() - count), complete.size());
        for (StepFolder each : all(run)) {
            if (!kept.contains(each) && each.compareTo(kept.getLast()) < 0) {
                each.delete();
            }
        }
    }

    /** Deletes the state first, durably: what a kill or a power cut leaves of the folder is not a checkpoint. */
    private void delete() throws IOException {
        if (Files.deleteIfExists(path.resolve(Checkpoint.FILE_NAME))) {
            Folder.flush(path);
        }
        Folder.delete(path);
    }

    @Override
    public int compareTo(StepFolder other) {
        return IN_ORDER.compare(this, other);
    }
}
