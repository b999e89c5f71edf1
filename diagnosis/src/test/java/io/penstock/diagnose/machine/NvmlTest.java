// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is read through NVML, of a simulated one: {@code src/test/native/nvml.c}. */
@Timeout(60)
class NvmlTest {

    private static final long PID = ProcessHandle.current().pid();
    private static final List<String> HEALTHY = List.of("devices 2", "name Simulated", "utilization 87",
            "memory.total 85899345920", "memory.used 20000000000", "process.0 " + PID + " 15000000000",
            "process.1 1 4000000000", "power 312500", "temperature.0 64", "clock.1 1410", "clock.most.1 1980",
            "throttle 36", "ecc.0.0 3", "ecc.1.0 0", "traffic.0 1000", "traffic.1 250000", "link.generation 4",
            "link.most.generation 5", "link.lanes 8", "link.most.lanes 16", "mig 0", "uuid GPU-5f2");

    @TempDir
    private static Path built;
    private static Path library;

    @TempDir
    private Path folder;
    private Path values;

    @BeforeAll
    static void build() throws Exception {
        library = NativeLibrary.compileC(built.resolve("libnvidia-ml.so.1"), Path.of("src/test/native/nvml.c"));
    }

    @SuppressWarnings("restricted")
    @BeforeEach
    void healthy() throws IOException {
        values = folder.resolve("values");
        set(HEALTHY);
        SymbolLookup functions = SymbolLookup.libraryLookup(library, Arena.global());
        try (Arena arena = Arena.ofConfined()) {
            new NativeLibrary(() -> functions).call("sim_nvml_values", null, arena.allocateFrom(values.toString()));
        }
    }

    /** Replaces the file in one step, since the library reads it all the time. */
    private void set(List<String> lines) throws IOException {
        Path other = Files.write(folder.resolve("other"), lines);
        Files.move(other, values, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private void with(String... more) throws IOException {
        set(Stream.concat(Stream.of(more), HEALTHY.stream()).toList());
    }

    private GpuWatch watch(OptionalInt ordinal, String visible) {
        return new GpuWatch(library.toString(), ordinal, visible, 1, 60_000);
    }

    private static <T> T await(Supplier<Optional<T>> state) throws InterruptedException {
        while (true) {
            Optional<T> found = state.get();
            if (found.isPresent()) {
                return found.get();
            }
            Thread.sleep(1);
        }
    }

    private static GpuSample sample(GpuWatch watch) throws InterruptedException {
        return await(() -> Optional.ofNullable(watch.take()));
    }

    @Test
    void everyValueIsReadInItsUnit() throws Exception {
        Nvml nvml = Nvml.load(library.toString());
        assertEquals(2, nvml.devices());
        assertEquals("Simulated 101", nvml.name(nvml.device(1)));
        assertEquals(new GpuSample(0.87, new GpuSample.DeviceMemory(2e10, 85_899_345_920.0, 1.5e10), 2, 312.5, 64,
                new GpuSample.Clocks(1410, 1980, 36), 3, 0,
                new GpuSample.Link(4, 5, 8, 16, 1_024_000, 256_000_000)), nvml.sample(nvml.device(0), PID));
        assertEquals(List.of(Throttle.POWER_CAP, Throttle.HEAT), Throttle.of(36));
    }

    @Test
    void whatADeviceDoesNotSupportIsUnknown() throws Exception {
        set(List.of("devices 1"));
        Nvml nvml = Nvml.load(library.toString());
        double no = Double.NaN;
        assertEquals(new GpuSample(no, new GpuSample.DeviceMemory(no, no, no), 0, no, no,
                new GpuSample.Clocks(no, no, -1), no, no, new GpuSample.Link(no, no, no, no, no, no)),
                nvml.sample(nvml.device(0), PID));
        assertEquals(List.of(), Throttle.of(-1));
    }

    @Test
    void memoryThatADriverHidesIsUnknownAndSoAreMoreProcessesThanFit() throws Exception {
        set(List.of("devices 1", "memory.used 7", "memory.total 9", "process.0 " + PID + " 18446744073709551615"));
        Nvml nvml = Nvml.load(library.toString());
        GpuSample hidden = nvml.sample(nvml.device(0), PID);
        assertEquals(1, hidden.processes());
        assertEquals(Double.NaN, hidden.memory().processBytes());
        set(Stream.iterate(0, i -> i < 70, i -> i + 1).map(i -> "process." + i + " 5 5").toList());
        assertEquals(Double.NaN, nvml.sample(100, PID).processes());
    }

    @Test
    void theDeviceIsTheOneThatCudaWasGiven() throws Exception {
        try (GpuWatch first = watch(OptionalInt.of(0), "1,0"); GpuWatch all = watch(OptionalInt.of(1), "");
                GpuWatch named = watch(OptionalInt.of(0), "GPU-5f2")) {
            for (GpuWatch watch : List.of(first, all, named)) {
                sample(watch);
            }
            assertEquals("Simulated 101", first.name());
            assertEquals("Simulated 101", all.name());
            assertEquals("Simulated 200", named.name());
        }
    }

    @Test
    void withoutAnOrdinalItIsTheOneThatThisProcessComputesOn() throws Exception {
        set(List.of("devices 2", "name Simulated", "utilization 5", "process.0 1 5"));
        try (GpuWatch watch = watch(OptionalInt.empty(), "")) {
            await(() -> watch.name().contains("none of the GPUs") ? Optional.of(true) : Optional.empty());
            assertNull(watch.take());
            set(List.of("devices 2", "name Simulated", "utilization 5", "process.0@101 " + PID + " 5"));
            assertEquals(0.05, sample(watch).utilization());
            assertEquals("Simulated 101", watch.name());
        }
    }

    @Test
    void aDividedDeviceSaysThatItsUtilizationIsNotKnown() throws Exception {
        with("mig 1", "status.nvmlDeviceGetUtilizationRates 3");
        try (GpuWatch watch = watch(OptionalInt.of(0), "")) {
            GpuSample seen = sample(watch);
            assertEquals(Double.NaN, seen.utilization());
            assertEquals(2e10, seen.memory().usedBytes());
            assertTrue(watch.name().contains("MIG"), watch.name());
        }
    }

    @Test
    void aDeviceThatVanishesEndsTheWatchAndIsSaid() throws Exception {
        try (GpuWatch watch = watch(OptionalInt.of(0), "")) {
            assertNotNull(sample(watch));
            with("status.nvmlDeviceGetMemoryInfo_v2 15");
            await(() -> watch.name().equals("(the device: GPU is lost)") ? Optional.of(true) : Optional.empty());
            assertNull(watch.take());
        }
    }

    @Test
    void aCallThatDoesNotReturnIsLeftAloneAndSaid() throws Exception {
        with("hang.nvmlDeviceGetTemperature 1");
        try (GpuWatch watch = new GpuWatch(library.toString(), OptionalInt.of(0), "", 1, 20)) {
            await(() -> watch.take() == null && watch.name().contains("does not return") ? Optional.of(true)
                    : Optional.empty());
            set(HEALTHY);
            assertNull(watch.take());
        } finally {
            set(HEALTHY);
        }
    }

    @Test
    void withoutTheLibraryOrTheDriverItIsSaid() throws Exception {
        assertTrue(assertThrows(Nvml.NvmlException.class, () -> Nvml.load(folder.resolve("no.so").toString()))
                .getMessage().startsWith("no NVML: "));
        with("status.nvmlInit_v2 9");
        assertEquals("nvmlInit_v2: Driver Not Loaded",
                assertThrows(Nvml.NvmlException.class, () -> Nvml.load(library.toString())).getMessage());
        try (GpuWatch watch = new GpuWatch("no-such-library.so", OptionalInt.of(0), "", 1, 60_000)) {
            await(() -> watch.name().startsWith("(no NVML: ") ? Optional.of(true) : Optional.empty());
        }
        try (GpuWatch watch = watch(OptionalInt.of(7), "")) {
            await(() -> watch.name().equals("(nvmlInit_v2: Driver Not Loaded)") ? Optional.of(true)
                    : Optional.empty());
        }
    }
}
