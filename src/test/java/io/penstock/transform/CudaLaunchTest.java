package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The CUDA device's way to a kernel: fatbin, lookup, arguments and errors, over a runtime whose device is the CPU
 * ({@code src/test/native/kernel_runtime.cpp}).
 */
@TestInstance(Lifecycle.PER_CLASS)
class CudaLaunchTest {
    private static final Path FATBIN = Path.of("src/main/resources/io/penstock/device/cuda/kernels.fatbin");
    private static final Path RUNTIME = Path.of("src/test/native/kernel_runtime.cpp");

    private Path library;

    @TempDir
    Path folder;

    @BeforeAll
    void compile() throws IOException, InterruptedException {
        library = NativeLab.compile(Path.of("target/native/kernel_runtime/libcudart.so.13").toAbsolutePath(), RUNTIME);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "kernelsGiveWhatTheDefinitionsSay", "launchesOnAForeignStream", "launchingAllocatesNothing",
        "argumentsThatAreWrongAreRefused"
    })
    void holds(String check) throws Exception {
        run(library, "", List.of(), check);
    }

    @ParameterizedTest
    @CsvSource({
        "cudaLibraryLoadData, 200, cudaErrorInvalidKernelImage, build it anew",
        "cudaLibraryLoadData, 209, cudaErrorNoKernelImageForDevice, older than all that the fatbin is for",
        "cudaLibraryLoadData, 222, cudaErrorUnsupportedPtxVersion, update the driver",
        "cudaLibraryGetKernel, 209, cudaErrorNoKernelImageForDevice, no kernel penstock_cast in the fatbin for this GPU",
        "cudaFuncGetAttributes, 209, cudaErrorNoKernelImageForDevice, kernel penstock_cast cannot be loaded",
        "cudaLaunchKernel, 700, cudaErrorIllegalAddress, cudaLaunchKernel"
    })
    void aCallThatFailsIsNamedWithWhatToDo(String call, int status, String name, String advice) throws Exception {
        String output = run(library, call + "=" + status, List.of(), "launch");
        assertTrue(output.startsWith(call + " " + status + " cuda:0: " + call + ": " + name), output);
        assertTrue(output.contains(advice), output);
    }

    @Test
    void aKernelThatTheFatbinLacksIsNamed() throws Exception {
        String output = run(library, "", List.of(), "launchOfAKernelThatIsNot");
        assertTrue(output.startsWith("cudaLibraryGetKernel 500 ") && output.contains("penstock_nothing")
                && output.contains("another version"), output);
    }

    @Test
    void aFatbinThatIsCutOffOrNoneNeverReachesCuda() throws Exception {
        byte[] whole = Files.readAllBytes(FATBIN);
        for (int bytes : new int[] {0, 4, 15, 16, whole.length / 2, whole.length - 1}) {
            refused(Arrays.copyOf(whole, bytes), bytes < 16 ? "a fatbin has at least 16" : "is it cut off?");
        }
        refused("not a fatbin, but long enough".getBytes(), "is this a fatbin?");
        Path copy = Files.write(folder.resolve("whole.fatbin"), whole);
        assertEquals("launched\n", run(library, "", List.of("-Dpenstock.kernels=" + copy), "launch"));
    }

    private void refused(byte[] content, String reason) throws Exception {
        Path file = Files.write(folder.resolve("bad.fatbin"), content);
        String output = run(library, "", List.of("-Dpenstock.kernels=" + file), "launch");
        assertTrue(output.startsWith("cudaLibraryLoadData 200 cuda:0: cudaLibraryLoadData: cudaErrorInvalidKernelImage"
                + " (200): the kernels cannot be read: " + file) && output.contains(reason), output);
    }

    @Test
    void aRuntimeThatCannotRunKernelsIsOneForCopies() throws Exception {
        Path copies = NativeLab.compile(folder.resolve("libcudart.so.13"), RUNTIME, "-DWITHOUT_KERNELS");
        String output = run(copies, "", List.of(), "launch");
        assertTrue(output.startsWith("unsupported cuda:0: ") && output.contains("lacks cudaFuncGetAttributes"), output);
    }

    /** Runs a check of {@link CudaLaunchChecks} in a JVM that loads the library: a process loads only one. */
    private static String run(Path library, String failure, List<String> options, String check) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp", System.getProperty("java.class.path"),
                "-Dpenstock.cudart=" + library));
        command.addAll(options);
        command.addAll(List.of(CudaLaunchChecks.class.getName(), check));
        Path output = Files.createTempFile("launch-check", ".txt");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true).redirectOutput(output.toFile());
            builder.environment().put("KERNEL_RUNTIME_FAIL", failure);
            builder.environment().remove("JAVA_TOOL_OPTIONS");
            Process process = builder.start();
            if (!process.waitFor(120, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                fail(check + " did not end:\n" + Files.readString(output));
            }
            String text = Files.readString(output);
            assertEquals(0, process.exitValue(), () -> check + ":\n" + text);
            return text;
        } finally {
            Files.delete(output);
        }
    }
}
