// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.device.internal.LibraryPlace;
import io.penstock.testing.NativeLibrary;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the library is found, and what is said where it is not, or is the wrong one. */
@Tag("slow")
class CudaLibraryTest {
    @TempDir
    private Path folder;

    @Test
    void looksWhereTheSettingSaysAndNowhereElse() {
        Map<String, String> environment = Map.of("PENSTOCK_CUDART", "/variable.so", "CUDA_HOME", "/home");
        assertEquals(List.of("/property.so"), places("/property.so", environment));
        assertEquals(List.of("/variable.so"), places(null, environment));
        assertEquals(List.of("/variable.so"), places(" ", environment));
    }

    @Test
    void looksInTheUsualPlacesWhereThereIsNoSetting() {
        assertEquals(List.of("libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13"), places(null, Map.of()));
        assertEquals(
                List.of("libcudart.so.13", "/home/lib64/libcudart.so.13", "/path/lib64/libcudart.so.13",
                        "/usr/local/cuda/lib64/libcudart.so.13"),
                places(null, Map.of("PENSTOCK_CUDART", "", "CUDA_PATH", "/path", "CUDA_HOME", "/home")));
    }

    private static List<String> places(String property, Map<String, String> environment) {
        return LibraryPlace.of(CudaLibrary.SONAME, CudaLibrary.PROPERTY, property, environment).stream()
                .map(LibraryPlace::library).toList();
    }

    @Test
    void everyFunctionThatIsCalledIsRequiredOfTheLibrary() throws IOException {
        Pattern imported = Pattern.compile(
                "import static io\\.penstock\\.cuda\\.bindings\\.CudaRuntime\\.(\\w+)(\\$address)?;");
        String bindings = Files.readString(Path.of("bindings/java/io/penstock/cuda/bindings/CudaRuntime.java"));
        Set<String> called = new TreeSet<>();
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/io/penstock/device/cuda"))) {
            for (Path source : sources.toList()) {
                imported.matcher(Files.readString(source)).results().map(match -> match.group(1))
                        .filter(name -> bindings.contains(" " + name + "$handle()"))
                        .forEach(called::add);
            }
        }
        called.add("cudaRuntimeGetVersion");            // called before the bindings may be
        called.add(CudaCalls.EXCHANGE_CAPTURE_MODE);    // not in the bindings
        assertEquals(called, new TreeSet<>(CudaLibrary.FUNCTIONS));
    }

    @Test
    void aMissingFileIsNoRuntime() throws Exception {
        Path missing = folder.resolve("libcudart.so.13");
        unavailable(new ChildJvm().library(missing), Reason.NO_RUNTIME,
                "property penstock.cudart: there is no file " + missing, "correct that setting");
        unavailable(new ChildJvm().variable("PENSTOCK_CUDART", missing), Reason.NO_RUNTIME,
                "variable PENSTOCK_CUDART: there is no file " + missing);
    }

    @Test
    void aFileThatIsNoLibraryIsNoRuntime() throws Exception {
        Path text = Files.writeString(folder.resolve("libcudart.so.13"), "not a library");
        unavailable(new ChildJvm().library(text), Reason.NO_RUNTIME, text.toString(), "file too short");
    }

    @Test
    void anotherLibraryIsNoRuntimeOfCuda() throws Exception {
        Path other = CudaSimulator.build(folder, "-DcudaRuntimeGetVersion=another");
        unavailable(new ChildJvm().library(other), Reason.INCOMPLETE_RUNTIME, other + " is not a CUDA runtime library");
    }

    @Test
    void anotherMajorVersionIsRefused() throws Exception {
        Path twelve = CudaSimulator.build(folder, "-DVERSION=12080");
        unavailable(new ChildJvm().library(twelve), Reason.WRONG_RUNTIME_VERSION,
                twelve + " is CUDA 12.8, expected CUDA 13");
        Path fourteen = CudaSimulator.build(folder.resolve("14"), "-DVERSION=14000");
        unavailable(new ChildJvm().library(fourteen), Reason.WRONG_RUNTIME_VERSION, "is CUDA 14.0, expected CUDA 13");
    }

    @Test
    void aLibraryThatLacksFunctionsIsRefusedByTheirNames() throws Exception {
        Path lacking = CudaSimulator.build(folder, "-DWITHOUT_EVENTS");
        unavailable(new ChildJvm().library(lacking), Reason.INCOMPLETE_RUNTIME,
                lacking + " lacks cudaEventElapsedTime, cudaEventQuery, cudaEventRecord;");
    }

    @Test
    void aJvmThatMayNotCallNativeCodeHasTheHostDevice() throws Exception {
        ChildJvm denied = new ChildJvm().withoutNativeAccess().library(CudaSimulator.build(folder));
        unavailable(denied, Reason.NO_NATIVE_ACCESS, "--enable-native-access=");
        assertTrue(denied.run("bestDevice").contains("best is host"));
    }

    @Test
    void theSystemsLoaderIsAskedByName() throws Exception {
        Path simulator = CudaSimulator.build(folder.resolve("lib64"));
        ChildJvm child = new ChildJvm().variable("LD_LIBRARY_PATH", simulator.getParent());
        assertTrue(child.run("open").contains("opened cuda:0"));
        assertTrue(child.run("inventory").contains("library=" + simulator + ","), child.run("inventory"));
    }

    @Test
    void aWrongVersionInOnePlaceDoesNotKeepTheRightOneInAnotherFromBeingFound() throws Exception {
        Path twelve = CudaSimulator.build(folder.resolve("12"), "-DVERSION=12080");
        Path thirteen = CudaSimulator.build(folder.resolve("13/lib64"));
        String output = new ChildJvm().variable("LD_LIBRARY_PATH", twelve.getParent())
                .variable("CUDA_HOME", folder.resolve("13")).run("inventory");
        assertTrue(output.contains("library=" + thirteen + ","), output);
        assertTrue(output.contains("Simulated GPU 0"), output);
    }

    /** A class loader looks its libraries through in an order that depends on their names: so several of them. */
    @Test
    void functionsComeFromThatLibraryWhateverElseIsLoaded() throws Exception {
        Path source = Files.writeString(folder.resolve("others.c"), CudaLibrary.FUNCTIONS.stream()
                .map(name -> "int " + name + "(void) { return 35; }\n").collect(Collectors.joining()));
        List<String> others = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            others.add(NativeLibrary.compileC(folder.resolve("other-" + i + ".so"), source).toString());
        }
        String output = new ChildJvm().library(CudaSimulator.build(folder))
                .option("-Dothers=" + String.join(File.pathSeparator, others)).run("openBesideOthers");
        assertTrue(output.contains("opened cuda:0, 64 bytes"), output);
    }

    @Test
    void bestFallsBackToTheHostAndSaysOnceWhy() throws Exception {
        Path missing = folder.resolve("nothing.so");
        String output = new ChildJvm().library(missing).run("bestDevice");
        assertTrue(output.contains("best is host"), output);
        assertEquals(2, output.split("Using the host device: ", -1).length, output);
        assertTrue(output.contains("there is no file " + missing), output);
    }

    @Test
    void bestIsTheFirstCudaDevice() throws Exception {
        String output = new ChildJvm().library(CudaSimulator.build(folder)).run("bestDevice");
        assertTrue(output.contains("best is cuda:0") && output.contains("Using cuda:0"), output);
    }

    @Test
    void theRealLibraryWithoutADriverSaysSo() throws Exception {
        Optional<Path> real = realLibrary();
        assumeTrue(real.isPresent(), "no CUDA 13 runtime library on this machine");
        String output = new ChildJvm().library(real.get()).run("inventory");
        assertTrue(output.contains("library=" + real.get() + ", runtimeVersion=13."), output);
        assumeTrue(output.contains("driverVersion=,"), "this machine has an NVIDIA driver");
        unavailable(new ChildJvm().library(real.get()), Reason.NO_DRIVER, "CUDA runtime 13.", "(" + real.get() + ")",
                "finds no NVIDIA driver", "580 or newer");
        assertTrue(new ChildJvm().library(real.get()).run("bestDevice").contains("best is host"));
        new ChildJvm().library(real.get()).run("errorsAreNamedByTheLibrary");
    }

    private static void unavailable(ChildJvm child, Reason reason, String... texts) throws Exception {
        String output = child.run("open").strip().lines().toList().getLast();
        assertTrue(output.startsWith(reason + " "), output);
        for (String text : texts) {
            assertTrue(output.contains(text), () -> "expected '" + text + "' in: " + output);
        }
    }

    /** The one that is set, or beside the compiler, or in the usual places. */
    static Optional<Path> realLibrary() throws IOException, InterruptedException {
        String set = System.getenv("PENSTOCK_CUDART");
        if (set != null && !set.isBlank()) {
            return Optional.of(Path.of(set).toAbsolutePath());
        }
        Stream<String> roots = Stream.of(System.getenv("CUDA_HOME"), System.getenv("CUDA_PATH"), "/usr/local/cuda");
        Optional<String> compilerRoot = Optional.empty();
        try {
            Process nvcc = new ProcessBuilder("nvcc", "--dryrun", "-x", "cu", "/dev/null")
                    .redirectErrorStream(true).start();
            compilerRoot = new String(nvcc.getInputStream().readAllBytes()).lines()
                    .filter(line -> line.startsWith("#$ TOP=")).map(line -> line.substring("#$ TOP=".length()))
                    .findFirst();
            nvcc.waitFor();
        } catch (IOException e) {
            System.out.println("no nvcc: " + e.getMessage());
        }
        Set<Path> places = Stream.concat(compilerRoot.stream(), roots)
                .filter(root -> root != null && !root.isBlank())
                .map(root -> Path.of(root, "lib64", CudaLibrary.SONAME).normalize())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        return places.stream().filter(Files::isRegularFile).findFirst();
    }
}
