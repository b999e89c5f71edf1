// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.diagnose.Diagnosis;
import io.penstock.memory.DType;
import io.penstock.telemetry.Phase;
import io.penstock.transform.CastTransform;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A whole training, with stages, the device's clock, phases, a move and a copy to the host, in which each call to CUDA
 * fails in turn: the first of a function, the second, and so on to the last. Run by {@link Scenarios}.
 */
final class EveryCallScenarios {

    private static final int FAULT = 719;
    /** How often a function is polled depends on time, so later polls are not tried. */
    private static final int MOST_TURNS = 120;
    /** Tell where a device is: without them, nothing but speed is lost. */
    private static final Set<String> MAY_FAIL = Set.of("cudaDeviceGetAttribute");
    /** What only an inventory of devices asks, and what turns a status into words: checked by {@code CudaChecks}. */
    private static final Set<String> OTHERS = Set.of("cudaDeviceGetPCIBusId", "cudaGetDeviceProperties",
            "cudaGetErrorName", "cudaGetErrorString", "cudaMemGetInfo", "cudaRuntimeGetVersion");

    private EveryCallScenarios() {
    }

    /** Opens, trains and closes; everything is closed in any case. */
    private static void train() {
        try (Device device = Device.cuda(0)) {
            device.makeCurrent();
            try (DeviceStream trainer = device.openStream("trainer");
                    DataLoader loader = DataLoader.builder(new ByteRows(200, 32)).batchSize(8).workers(1).prefetch(1)
                            .deviceSlots(2).device(device).onDevice(CastTransform.stage("row", DType.I32))
                            .withDeviceClock().open();
                    Diagnosis diagnosis = Diagnosis.of(loader)) {
                for (int i = 0; i < 10; i++) {
                    if (i == 5) {
                        loader.seek(1);
                    }
                    try (Batch batch = i % 4 == 3 ? loader.next() : loader.next(trainer)) {
                        diagnosis.begin(Phase.FORWARD);
                        diagnosis.begin(Phase.BACKWARD);
                        diagnosis.end();
                        if (i == 4) {
                            assertEquals(Set.of("row"), batch.toHost().keySet());
                        }
                    }
                }
                trainer.isIdle();
            }
        }
    }

    static void whateverCallFailsIsToldByNameAndNothingIsLeft() {
        train();
        Set<String> missing = new TreeSet<>(CudaSimulator.functions());
        missing.removeAll(OTHERS);
        missing.removeIf(function -> CudaSimulator.calls(function) > 0);
        assertEquals(Set.of(), missing, "functions that the training does not call");
        List<String> untold = new ArrayList<>();
        int failures = 0;
        for (String function : CudaSimulator.functions()) {
            CudaSimulator.reset();
            train();
            long calls = Math.min(MOST_TURNS, CudaSimulator.calls(function));
            for (int turn = 0; turn < calls; turn += 1 + turn / 10) {
                CudaSimulator.reset();
                CudaSimulator.failAfter(function, FAULT, turn, 1);
                String told = told(function);
                boolean failed = CudaSimulator.calls(function) > turn;      // it polls a little more or less each time
                if (failed && told.isEmpty() != MAY_FAIL.contains(function) || CudaSimulator.violations() > 0) {
                    untold.add(function + ", call " + turn + ": " + told + CudaSimulator.violationText());
                }
                failures += failed ? 1 : 0;
                Scenarios.checkNothingIsOpen();
            }
        }
        assertEquals(List.of(), untold);
        assertTrue(failures > 150, failures + " calls failed");
    }

    /** Trains, and returns the error that names the function; empty if all went well. */
    private static String told(String function) {
        try {
            train();
            return "";
        } catch (RuntimeException e) {
            assertTrue(names(e, function), () -> function + ": " + Scenarios.text(e));
            return e.toString();
        }
    }

    private static boolean names(Throwable error, String function) {
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at instanceof DeviceException device && device.call().equals(function)
                    || at instanceof DeviceUnavailableException && String.valueOf(at.getMessage()).contains(function)) {
                return true;
            }
        }
        return false;
    }
}
