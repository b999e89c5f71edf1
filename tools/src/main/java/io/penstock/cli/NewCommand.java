// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.io.publish.AtomicFile;
import io.penstock.text.ShellText;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "new",
        description = "Writes a project to start from.",
        subcommands = NewCommand.Trainer.class)
final class NewCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected trainer");
    }

    /** The libraries that a trainer may compute with, and the files of its project. */
    private enum Kind {
        PLAIN("Model.java"),
        DJL("Network.java"),
        PYTORCH("Network.java");

        private final String model;

        Kind(String model) {
            this.model = model;
        }

        List<String> files() {
            return List.of("pom.xml", "README.md", "src/main/java/trainer/Trainer.java",
                    "src/main/java/trainer/" + model);
        }
    }

    @Command(
            name = "trainer",
            description = "Writes a Maven project with a trainer that reads its batches through Penstock.",
            footer = {"", "It compiles and trains as it is. Its README says how, and what Maven needs in its"
                    + " local repository."})
    static final class Trainer implements Callable<Integer> {

        @Mixin
        private Report report;

        @Parameters(paramLabel = "DIR", description = "The project's folder: new, or empty.")
        private Path folder;

        @ArgGroup(multiplicity = "0..1")
        private @Nullable Library library;

        @Option(names = "--store", paramLabel = "STORE",
                description = "The token store to train on by default; default: ${DEFAULT-VALUE}.")
        private String store = "quickstart/tokens";

        private static final class Library {
            @Option(names = "--plain", description = "A model in plain Java (default).")
            @SuppressWarnings("UnusedVariable")
            private boolean plain;

            @Option(names = "--djl", description = "A model of DJL on PyTorch.")
            private boolean djl;

            @Option(names = "--pytorch", description = "A model of PyTorch's C++ library, by JavaCPP's presets.")
            private boolean pytorch;

            Kind kind() {
                return djl ? Kind.DJL : pytorch ? Kind.PYTORCH : Kind.PLAIN;
            }
        }

        @Override
        public Integer call() throws IOException {
            if (store.isBlank() || store.matches(".*[<>&\\s].*")) {
                throw new UsageException("--store '" + store
                        + "': a name with spaces or one of <>& does not fit into a Maven property");
            }
            Kind kind = library != null ? library.kind() : Kind.PLAIN;
            requireEmpty(folder);
            Map<String, String> values = Map.of("@NAME@", projectName(), "@STORE@", store, "@VERSION@", version());
            Map<String, Object> written = new LinkedHashMap<>();
            for (String file : kind.files()) {
                Path path = folder.resolve(file);
                Files.createDirectories(path.getParent());
                String text = filled(template(kind, path.getFileName().toString()), values);
                AtomicFile.write(path, text);
                written.put(file, text.lines().count());
            }
            report.print(report.isJson() ? Map.of("folder", folder.toString(), "lines", written) : text(kind, written));
            return ExitCode.SUCCESS;
        }

        private static void requireEmpty(Path folder) throws IOException {
            if (Files.isDirectory(folder)) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                    if (files.iterator().hasNext()) {
                        throw new FileAlreadyExistsException(folder.toString(), null,
                                "is not empty: name a new folder");
                    }
                }
            } else if (Files.exists(folder)) {
                throw new FileAlreadyExistsException(folder.toString(), null, "is a file: name a new folder");
            }
        }

        /** The folder's name, as far as Maven takes it for an artifact. */
        private String projectName() {
            String name = folder.toAbsolutePath().normalize().getFileName().toString()
                    .replaceAll("[^A-Za-z0-9._-]", "-");
            return name.isEmpty() ? "trainer" : name;
        }

        private static String version() {
            String version = NewCommand.class.getPackage().getImplementationVersion();
            return version == null ? "0.1.0-SNAPSHOT" : version;
        }

        private static String template(Kind kind, String name) throws IOException {
            String path = "trainer/" + kind.name().toLowerCase(Locale.ROOT) + "/" + name;
            try (InputStream in = NewCommand.class.getResourceAsStream(path)) {
                if (in == null) {
                    throw new FileNotFoundException(path + " is missing in the jar");
                }
                return new String(in.readAllBytes(), UTF_8);
            }
        }

        private static String filled(String template, Map<String, String> values) {
            String text = template;
            for (Map.Entry<String, String> value : values.entrySet()) {
                text = text.replace(value.getKey(), value.getValue());
            }
            return text;
        }

        private String text(Kind kind, Map<String, Object> written) {
            StringBuilder text = new StringBuilder();
            written.forEach((file, lines) -> text.append(folder.resolve(file)).append('\n'));
            text.append("\nNext, in Penstock's folder:\n");
            Path absolute = folder.toAbsolutePath().normalize();            // this command may run elsewhere
            // Maven looks for a JDK in fewer places than the launcher, which has found this one.
            String jdk = System.getProperty("java.home");
            if (!jdk.equals(System.getenv("JAVA_HOME"))) {
                text.append("    export JAVA_HOME=").append(ShellText.quoted(jdk)).append('\n');
            }
            text.append("    mvn -q install -DskipTests\n");
            if (kind != Kind.PLAIN) {
                text.append("    mvn -q -f integrations/pom.xml -pl ").append(kind.name().toLowerCase(Locale.ROOT))
                        .append(" -am install -DskipTests\n");
            }
            return text.append("    ./penstock quickstart --keep ").append(ShellText.quoted(absolute + "/quickstart"))
                    .append("\n    cd ").append(ShellText.quoted(absolute)).append("\n")
                    .append("    mvn -q compile exec:exec\n").toString();
        }
    }
}
