// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.lang.management.ManagementFactory;

/** What runs over the simulated CUDA runtime, in a JVM of its own: each method is a check, named as the argument. */
public final class CudaLaunchChecks {
    private CudaLaunchChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method, and a fatbin if it is not to be the committed one
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        if (arguments.length > 1) {
            System.setProperty("penstock.kernels", arguments[1]);
        }
        CudaLaunchChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    static void kernelsGiveWhatTheDefinitionsSay() {
        try (Lab lab = new DeviceLab(Device.cuda(0))) {
            assertEquals(0, CudaSimulator.calls("cudaLibraryLoadData"));
            for (Experiment experiment : TransformTest.ofTheEngine(5)) {
                experiment.verify(lab);
            }
            assertEquals(1, CudaSimulator.calls("cudaLibraryLoadData"));
            assertEquals(0, CudaSimulator.calls("cudaLibraryUnload"));
        }
        assertEquals(1, CudaSimulator.calls("cudaLibraryUnload"));
    }

    static void launchesOnAForeignStream() {
        try (Device device = Device.cuda(0); DeviceStream own = device.openStream("own");
                DeviceBuffer narrow = device.allocate(8); DeviceBuffer wide = device.allocate(32)) {
            device.makeCurrent();
            DeviceStream view = device.stream(own.handle());
            new CastTransform(DType.U8, DType.I32).enqueue(view, narrow.address(), 8, wide.address());
            view.close();
            assertThrows(IllegalStateException.class, () -> new CastTransform(DType.U8, DType.I32)
                    .enqueue(view, narrow.address(), 8, wide.address()));
            own.synchronize();
        }
    }

    static void launchingAllocatesNothing() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own");
                DeviceBuffer tokens = device.allocate(18); DeviceBuffer ids = device.allocate(64);
                DeviceBuffer labels = device.allocate(64)) {
            device.makeCurrent();
            var transform = new CausalLmTransform(DType.U16, DType.I64, 8);
            long[] addresses = {tokens.address(), ids.address(), labels.address()};
            long fewest = Long.MAX_VALUE;
            for (int round = 0; round < 1_000 && fewest >= 200; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 500; i++) {
                    transform.enqueue(stream, addresses[0], 1, addresses[1], addresses[2]);
                }
                fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
                stream.synchronize();
            }
            assertTrue(fewest < 200, fewest + " bytes in 500 launches");
        }
    }

    static void argumentsThatAreWrongAreRefused() {
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own")) {
            Kernel kernel = CastTransform.KERNEL;
            assertThrows(IllegalArgumentException.class,
                    () -> stream.launch(kernel, 1, kernel.newArguments().asSlice(8)));
            assertThrows(IllegalArgumentException.class, () -> stream.launch(kernel, 0, kernel.newArguments()));
            assertEquals(0, CudaSimulator.calls("cudaLibraryLoadData"));
        }
    }

    static void batchesOfALoaderAreWidenedBehindTheirCopies() {
        try (Device device = Device.cuda(0)) {
            CudaSimulator.setSpeed(200, 50);
            LoaderTransformTest.widensAsTheCollatorDoes(device, TransferMode.COPY);
        }
    }

    static void aKernelThatDoesNotWaitForTheCopyIsAViolation() {
        try (Device device = Device.cuda(0); DeviceStream copies = device.openStream("copies");
                DeviceStream train = device.openStream("train"); PinnedBuffer pinned = device.allocatePinned(8);
                DeviceBuffer narrow = device.allocate(8); DeviceBuffer wide = device.allocate(32);
                DeviceEvent copied = device.openEvent(EventWait.BLOCK)) {
            device.makeCurrent();
            var transform = new CastTransform(DType.U8, DType.I32);
            copies.copyToDevice(narrow, 0, pinned, 0, 8);
            copies.record(copied);
            train.waitFor(copied);
            transform.enqueue(train, narrow.address(), 8, wide.address());
            assertEquals(0, CudaSimulator.violations());
            copies.copyToDevice(narrow, 0, pinned, 0, 8);
            assertEquals(1, CudaSimulator.violations(), CudaSimulator.violationText());
            transform.enqueue(train, narrow.address(), 8, wide.address());
            assertEquals(2, CudaSimulator.violations(), CudaSimulator.violationText());
            copies.synchronize();
            train.synchronize();
        }
        CudaSimulator.reset();
    }

    /** What a loader's order must hold: the stage behind the copy, the reader behind the stage, and the next stage. */
    static void aStagesOutputIsWrittenInOrderOrItIsAViolation() {
        SlabLayout fields = SlabLayout.of(new TensorSpec("tokens", DType.U16, 1, 9));
        try (Device device = Device.cuda(0); DeviceStream copies = device.openStream("copies");
                DeviceStream train = device.openStream("train"); PinnedBuffer pinned = device.allocatePinned(18);
                DeviceBuffer tokens = device.allocate(18); DeviceBuffer ids = device.allocate(64);
                DeviceEvent ready = device.openEvent(EventWait.BLOCK);
                DeviceEvent used = device.openEvent(EventWait.SPIN);
                OpenStage stage = TokenStage.of(DType.I64).outputs(TokenStage.Output.INPUT_IDS).open(device, fields)) {
            device.makeCurrent();
            var inputs = new DeviceFields(fields);
            var outputs = new DeviceFields(stage.outputs());
            inputs.setAddress(0, tokens.address());
            outputs.setAddress(0, ids.address());
            Runnable batch = () -> {
                copies.copyToDevice(tokens, 0, pinned, 0, 18);
                inputs.begin(1);
                outputs.begin(1);
                stage.enqueue(copies, inputs, outputs);
                copies.record(ready);
            };
            Runnable step = () -> CudaSimulator.launchReader(train.handle(), ids.address(), 64, 10);
            for (int i = 0; i < 3; i++) {
                copies.waitFor(used);
                batch.run();
                train.waitFor(ready);
                step.run();
                train.record(used);
            }
            assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
            batch.run();                                    // over what the last step reads
            assertEquals(1, CudaSimulator.violations(), CudaSimulator.violationText());
            step.run();                                     // before the stage has written
            assertEquals(2, CudaSimulator.violations(), CudaSimulator.violationText());
            copies.synchronize();
            train.synchronize();
        }
        CudaSimulator.reset();
    }

    static void aCallThatFailsIsNamedWithWhatToDo() {
        failing("cudaLibraryLoadData", 200, "cudaErrorInvalidKernelImage", "rebuild it");
        failing("cudaLibraryLoadData", 209, "cudaErrorNoKernelImageForDevice",
                "older than every GPU that the fatbin supports");
        failing("cudaLibraryLoadData", 222, "cudaErrorUnsupportedPtxVersion", "update the driver");
        failing("cudaLibraryGetKernel", 209, "cudaErrorNoKernelImageForDevice",
                "no kernel penstock_cast in the fatbin for this GPU");
        failing("cudaFuncGetAttributes", 209, "cudaErrorNoKernelImageForDevice",
                "kernel penstock_cast cannot be loaded");
        failing("cudaLaunchKernel", 719, "cudaErrorLaunchFailure", "cudaLaunchKernel");
    }

    /** The next launch after it goes well again. */
    private static void failing(String call, int status, String name, String advice) {
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own")) {
            device.makeCurrent();
            Kernel kernel = CastTransform.KERNEL;
            CudaSimulator.fail(call, status);
            DeviceException e = assertThrows(
                    DeviceException.class, () -> stream.launch(kernel, 1, kernel.newArguments()));
            assertEquals(call, e.call());
            assertEquals(status, e.status());
            assertTrue(e.getMessage().startsWith("cuda:0: " + call + ": " + name + " (" + status + "): ")
                    && e.getMessage().contains(advice), e.getMessage());
            CudaSimulator.fail("", 0);
            stream.launch(kernel, 1, kernel.newArguments());
            stream.synchronize();
        }
    }

    static void aKernelThatTheFatbinLacksIsNamed() {
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own")) {
            Kernel kernel = new Kernel("penstock_nothing", CastTransform.KERNEL.layout(), _ -> { });
            DeviceException e = assertThrows(
                    DeviceException.class, () -> stream.launch(kernel, 1, kernel.newArguments()));
            assertEquals("cudaLibraryGetKernel", e.call());
            assertTrue(e.getMessage().contains("no kernel penstock_nothing in the fatbin")
                    && e.getMessage().contains("another version"), e.getMessage());
        }
    }

    /** Prints what goes wrong with a launch. */
    static void launch() {
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own")) {
            device.makeCurrent();
            stream.launch(CastTransform.KERNEL, 1, CastTransform.KERNEL.newArguments());
            System.out.println("launched");
        } catch (DeviceException e) {
            System.out.println(e.call() + " " + e.status() + " " + e.getMessage());
        }
    }
}
