// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.local.CommittedFolder;
import io.penstock.io.publish.StagingFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The names of shards: {@code out.tar} for a single one, or with their number, as {@code out-{000000}.tar} or {@code
 * out-%06d.tar}.
 *
 * @param path the path as the writer takes it, with a {@code %0Nd}
 * @param names matches the names of the shards and of their record
 */
record ShardPattern(Path path, Pattern names) {

    private static final Pattern BRACES = Pattern.compile("\\{(0{1,9})}");
    private static final Pattern NUMBER = Pattern.compile("%(0[1-9])?d");

    static ShardPattern of(Path target) {
        String name = target.getFileName() == null ? "" : target.getFileName().toString();
        Matcher braces = BRACES.matcher(name);
        String pattern = braces.find()
                ? name.substring(0, braces.start()) + "%0" + braces.group(1).length() + "d"
                        + name.substring(braces.end()) : name;
        Matcher number = NUMBER.matcher(pattern);
        String names = number.find()
                ? Pattern.quote(pattern.substring(0, number.start())) + "\\d+"
                        + Pattern.quote(pattern.substring(number.end())) : Pattern.quote(pattern);
        Path path = target.resolveSibling(pattern);
        return new ShardPattern(path, Pattern.compile(names + "|"
                + Pattern.quote(WebDatasetWriter.recordFor(path).getFileName().toString())));
    }

    /** Tells whether names have a number, so that there can be several shards. */
    boolean isNumbered() {
        return NUMBER.matcher(path.getFileName().toString()).find();
    }

    void requireAbsent() throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            return;
        }
        for (Path file : StagingFolder.naming(path, () -> CommittedFolder.list(folder,
                file -> names.matcher(file.getFileName().toString()).matches()))) {
            StagingFolder.requireAbsent(path.resolveSibling(file.getFileName()));
        }
    }
}
