// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.testing.HeapUse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kernels and their twins give what the definitions say, byte for byte, over random shapes, dtypes and data, and write
 * nothing else: the twins on a host stream, the kernels' source compiled for the CPU, and the fatbin on a GPU.
 */
class TransformTest {

    /** Those of the engine's transforms; a wing's test has those of the wing. */
    List<Experiment> experiments(long seed) {
        return ofTheEngine(seed);
    }

    static List<Experiment> ofTheEngine(long seed) {
        System.out.println("seed " + seed);
        List<Experiment> all = new ArrayList<>(new TokenExperiments(seed).all());
        all.addAll(new TensorExperiments(seed).all());
        all.addAll(new StageExperiments(seed).all());
        all.addAll(new PackedExperiments(seed).all());
        return all;
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void twinsOnAHostStreamGiveWhatTheDefinitionsSay(long seed) {
        for (Experiment experiment : experiments(seed)) {
            try (Lab lab = new DeviceLab(Device.host())) {
                experiment.verify(lab);
            }
        }
    }

    /** What the threads of both sides allocate, the caller's and the stream's; each experiment has a warm round. */
    @Tag("slow")
    @Test
    void twinsAllocateNothingOnTheStreamsThread() {
        for (Experiment experiment : experiments(6)) {
            try (Lab lab = new DeviceLab(Device.host())) {
                long id = Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().equals("penstock host stream lab")).findAny().orElseThrow()
                        .threadId();
                Runnable work = experiment.repeatable(lab);
                long fewest = HeapUse.fewest(199, () -> {
                    for (int i = 0; i < 5; i++) {
                        work.run();
                    }
                    lab.stream().synchronize();
                }, id);
                experiment.close();
                assertTrue(fewest < 200, experiment + " allocates " + fewest + " bytes");
            }
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    class CompiledForTheCpu {
        private final List<Experiment> forEveryGrid = experiments(4);
        private Path library;

        @BeforeAll
        void compile() throws IOException, InterruptedException {
            library = NativeLab.compile(Path.of("target/native"));
        }

        @ParameterizedTest
        @ValueSource(longs = {1, 2, 3})
        void kernelsGiveWhatTheDefinitionsSay(long seed) {
            for (Experiment experiment : experiments(seed)) {
                try (Lab lab = new NativeLab(library, 1)) {
                    experiment.verify(lab);
                }
            }
        }

        @ParameterizedTest
        @ValueSource(ints = {2, 3, Integer.MAX_VALUE})
        void theSizeOfTheGridChangesNothing(int divisor) {
            for (Experiment experiment : forEveryGrid) {
                try (Lab lab = new NativeLab(library, divisor)) {
                    experiment.verify(lab);
                }
            }
        }
    }

    @Nested
    @Tag("gpu")
    class OnAGpu {
        @ParameterizedTest
        @ValueSource(longs = {1, 2, 3})
        void kernelsGiveWhatTheDefinitionsSay(long seed) {
            Device device;
            try {
                device = Device.cuda(0);
            } catch (DeviceUnavailableException e) {
                Assumptions.abort(e.getMessage());
                return;
            }
            try (Lab lab = new DeviceLab(device)) {
                for (Experiment experiment : experiments(seed)) {
                    experiment.verify(lab);
                }
            } catch (DeviceException e) {
                Assumptions.assumeFalse(e.errorName().equals("cudaErrorNotSupported"),
                        "the runtime is a simulated one without kernels");
                throw e;
            }
        }
    }
}
