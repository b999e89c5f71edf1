// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The engine's simulated CUDA runtime with the kernels and a simulated cuBLAS, for child JVMs: a JVM loads CUDA once. A
 * child in which a rule of CUDA was broken, or that leaves something open, ends with status {@value #VIOLATION}.
 */
record SimulatedGpu(Path folder) {

    static final int VIOLATION = 86;

    private static final Path ENGINE = Path.of("../..");
    private static final Path SIMULATION = ENGINE.resolve("src/test/native/sim");
    private static final Path OWN = Path.of("src/test/native");

    /** Compiles it; a machine without compilers skips the test. */
    static SimulatedGpu build(Path folder) throws IOException, InterruptedException {
        SimulatedGpu gpu = new SimulatedGpu(folder.toAbsolutePath());
        Files.createDirectories(gpu.folder);
        List<String> runtime = new ArrayList<>(List.of("cc", "-O1", "-pthread"));
        try (Stream<Path> sources = Files.list(SIMULATION)) {
            sources.map(Path::toString).filter(file -> file.endsWith(".c")).sorted().forEach(runtime::add);
        }
        gpu.compile("libcudart.so.13", runtime);
        gpu.compile("libcublas.so.13", List.of("cc", "-O3", "-pthread", "-I" + SIMULATION,
                OWN.resolve("cublas.c").toString(), "-L" + gpu.folder, "-l:libcudart.so.13", "-Wl,-rpath,$ORIGIN"));
        gpu.compile("kernels.so", List.of("c++", "-std=c++17", "-O2", "-ffp-contract=off", "-fsanitize=undefined",
                "-fsanitize-undefined-trap-on-error", "-I" + ENGINE.resolve("src/main/native"), "-Isrc/main/cuda",
                SIMULATION.resolve("outputs.cpp").toString(), OWN.resolve("outputs.cpp").toString()));
        return gpu;
    }

    private void compile(String library, List<String> command) throws IOException, InterruptedException {
        List<String> whole = new ArrayList<>(command);
        whole.addAll(1, List.of("-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o",
                folder.resolve(library).toString()));
        Process process;
        try {
            process = new ProcessBuilder(whole).redirectErrorStream(true).start();
        } catch (IOException e) {
            abort("no compiler: " + e.getMessage());
            return;
        }
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
    }

    /** The environment of a process that is to find it. */
    Map<String, String> environment() {
        return Map.of("PENSTOCK_CUDART", folder.resolve("libcudart.so.13").toString(),
                "PENSTOCK_CUBLAS", folder.resolve("libcublas.so.13").toString(),
                "SIM_CUDA_KERNELS", folder.resolve("kernels.so").toString(), "SIM_CUDA_STRICT_EXIT", "1");
    }

    /** A program in a JVM of its own. */
    static ProcessBuilder program(Class<?> main, Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--add-modules",
                "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp",
                System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder program = new ProcessBuilder(command).redirectErrorStream(true);
        program.environment().keySet().removeAll(List.of("CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_PATH"));
        program.environment().putAll(environment);
        return program;
    }

    /** What a program printed, which is to end with a status. */
    static String run(int status, ProcessBuilder program) throws IOException, InterruptedException {
        Process process = program.start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(status, process.waitFor(), output);
        // What the JVM says of the module of vectors
        return output.lines().filter(line -> !line.startsWith("WARNING: Using incubator modules"))
                .reduce("", (lines, line) -> lines + line + "\n");
    }
}
