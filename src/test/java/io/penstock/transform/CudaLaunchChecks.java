package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;

/** What runs over a false CUDA library, in a JVM of its own: each method is a check, named on the command line. */
public final class CudaLaunchChecks {
    private CudaLaunchChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        CudaLaunchChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    static void kernelsGiveWhatTheDefinitionsSay() {
        try (Lab lab = new DeviceLab(Device.cuda(0))) {
            assertEquals(0, counter("kernel_runtime_loads"));
            for (Experiment experiment : TransformTest.experiments(5)) {
                experiment.verify(lab);
            }
            assertEquals(1, counter("kernel_runtime_loads"));
            assertEquals(0, counter("kernel_runtime_unloads"));
        }
        assertEquals(1, counter("kernel_runtime_unloads"));
    }

    static void launchesOnAForeignStream() {
        try (Device device = Device.cuda(0); DeviceStream own = device.openStream("own");
                DeviceBuffer lengths = device.allocate(4); DeviceBuffer mask = device.allocate(8)) {
            DeviceStream view = device.stream(own.handle());
            new AttentionMaskTransform(DType.I32, DType.U8).enqueue(view, lengths.address(), 1, 8, mask.address());
            view.close();
            assertThrows(IllegalStateException.class, () -> new AttentionMaskTransform(DType.I32, DType.U8)
                    .enqueue(view, lengths.address(), 1, 8, mask.address()));
        }
    }

    static void launchingAllocatesNothing() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own");
                DeviceBuffer tokens = device.allocate(18); DeviceBuffer ids = device.allocate(64);
                DeviceBuffer labels = device.allocate(64)) {
            var transform = new CausalLmTransform(DType.U16, DType.I64, 8);
            long[] addresses = {tokens.address(), ids.address(), labels.address()};
            long fewest = Long.MAX_VALUE;
            for (int round = 0; round < 30; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 2000; i++) {
                    transform.enqueue(stream, addresses[0], 1, addresses[1], addresses[2]);
                }
                fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertTrue(fewest < 200, fewest + " bytes in 2000 launches");
        }
    }

    static void argumentsThatAreWrongAreRefused() {
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own")) {
            Kernel kernel = new Kernel("penstock_cast", 5, words -> { });
            assertThrows(IllegalArgumentException.class, () -> stream.launch(kernel, 1, new long[4]));
            assertThrows(IllegalArgumentException.class, () -> stream.launch(kernel, 0, new long[5]));
            assertEquals(0, counter("kernel_runtime_loads"));
        }
    }

    /** Prints what goes wrong with a launch. */
    static void launch() {
        launch("penstock_cast");
    }

    static void launchOfAKernelThatIsNot() {
        launch("penstock_nothing");
    }

    private static void launch(String name) {
        try (Device device = Device.cuda(0); DeviceStream stream = device.openStream("own")) {
            stream.launch(new Kernel(name, 5, words -> { }), 1, new long[5]);
            System.out.println("launched");
        } catch (DeviceException e) {
            System.out.println(e.call() + " " + e.status() + " " + e.getMessage());
        } catch (UnsupportedOperationException e) {
            System.out.println("unsupported " + e.getMessage());
        }
    }

    @SuppressWarnings("restricted")
    private static int counter(String name) {
        return SymbolLookup.loaderLookup().findOrThrow(name).reinterpret(4).get(ValueLayout.JAVA_INT, 0);
    }
}
