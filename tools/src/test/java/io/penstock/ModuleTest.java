// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Corpora;
import io.penstock.testing.JavaCommand;
import io.penstock.testing.Modules;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine as the module {@code io.penstock}: a user's module that requires nothing else compiles and runs. */
class ModuleTest {

    private static final String MAIN = """
            package user;

            import io.penstock.dataset.TokenWindows;
            import io.penstock.device.Device;
            import io.penstock.loader.Batch;
            import io.penstock.loader.DataLoader;
            import io.penstock.store.TokenStore;
            import java.nio.file.Path;

            public final class Main {
                public static void main(String[] args) throws Exception {
                    long windows = 0;
                    try (TokenStore store = TokenStore.open(Path.of(args[0]));
                            Device device = Device.host();
                            DataLoader loader = DataLoader.builder(TokenWindows.of(store, 99)).batchSize(8).shuffle(1)
                                    .device(device).endEpoch(1).open()) {
                        for (Batch batch : loader.epoch()) {
                            try (batch) {
                                windows += batch.tensor("tokens").dim(0);
                            }
                        }
                    }
                    System.out.println(windows + " windows by " + Main.class.getModule());
                }
            }
            """;

    @TempDir
    Path folder;

    @Test
    void aModuleThatRequiresTheEngineRunsOnTheJdkAlone() throws Exception {
        Path corpus = Corpora.rawU16(folder, 10_000, 12);
        Path source = Files.createDirectories(folder.resolve("source/user"));
        Files.writeString(source.resolve("Main.java"), MAIN);
        Files.writeString(folder.resolve("source/module-info.java"), "module user { requires io.penstock; }\n");
        String engine = Path.of("target/classes").toAbsolutePath().toString();
        String out = folder.resolve("out").toString();
        run("javac", "-p", engine, "-d", out, folder.resolve("source/module-info.java").toString(),
                source.resolve("Main.java").toString());
        String printed = run("java", "--enable-native-access=io.penstock", "--illegal-native-access=deny",
                "-p", engine + File.pathSeparator + out, "-m", "user/user.Main", corpus.toString());
        assertEquals("101 windows by module user\n", printed);
    }

    private static final String WITH_WINGS = """
            package user;

            import io.penstock.augment.Augment;
            import io.penstock.diagnose.Diagnosis;
            import io.penstock.remote.RemoteFiles;
            import io.penstock.store.StoreFormats;
            import io.penstock.tokenize.Tokenizer;
            import java.util.List;

            public final class Main {
                public static void main(String[] args) {
                    for (Class<?> type : List.of(StoreFormats.class, Augment.class, Diagnosis.class, RemoteFiles.class,
                            Tokenizer.class)) {
                        System.out.println(type.getModule().getName());
                    }
                    System.out.println(StoreFormats.all().stream().anyMatch(format -> format.name().equals("images")));
                }
            }
            """;

    /** Each wing is a module that gives its types, and the engine finds its services. */
    @Test
    void aModuleThatRequiresTheToolsHasAllWings() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source/user"));
        Files.writeString(source.resolve("Main.java"), WITH_WINGS);
        Files.writeString(folder.resolve("source/module-info.java"), "module user { requires io.penstock.tools; }\n");
        String picocli = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.matches(".*picocli.*jar")).findFirst().orElseThrow();
        String modules = Modules.path() + File.pathSeparator + picocli;
        String out = folder.resolve("out").toString();
        run("javac", "-p", modules, "-d", out, folder.resolve("source/module-info.java").toString(),
                source.resolve("Main.java").toString());
        assertEquals("""
                io.penstock
                io.penstock.pictures
                io.penstock.diagnosis
                io.penstock.remote
                io.penstock.tools
                true
                """, run("java", "--enable-native-access=io.penstock", "--illegal-native-access=deny",
                "-p", modules + File.pathSeparator + out, "-m", "user/user.Main"));
    }

    private static String run(String tool, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(arguments));
        command.addFirst(JavaCommand.tool(tool));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(10, TimeUnit.MINUTES), tool + " does not end");
        assertEquals(0, process.exitValue(), printed);
        return printed;
    }
}
