// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** The modules of the project, as a build leaves them: the engine, whose folder is the top, and its wings. */
public final class Modules {
    /** Their folders. */
    public static final List<Path> FOLDERS =
            List.of("", "formats", "pictures", "media", "remote", "diagnosis", "tools").stream().map(Path::of).toList();

    private Modules() {
    }

    /** The folder of each module's compiled classes. */
    public static List<Path> classes() {
        return FOLDERS.stream().map(folder -> folder.resolve("target/classes")).toList();
    }

    /** The folder of each module's sources. */
    public static List<Path> sources() {
        return FOLDERS.stream().map(folder -> folder.resolve("src/main/java")).toList();
    }

    /** The folder of each module's tests. */
    public static List<Path> tests() {
        return FOLDERS.stream().map(folder -> folder.resolve("src/test/java")).toList();
    }

    /** The compiled classes of all modules, as a class path or a module path. */
    public static String path() {
        return classes().stream().map(folder -> folder.toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** What a module declares, read from its compiled classes. */
    public static ModuleDescriptor descriptor(Path classes) throws IOException {
        try (InputStream in = Files.newInputStream(classes.resolve("module-info.class"))) {
            return ModuleDescriptor.read(in);
        }
    }
}
