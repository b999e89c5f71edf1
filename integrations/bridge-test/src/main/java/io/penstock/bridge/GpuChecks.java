// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.bridge.Bridge.Alias;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LeaseMode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** What {@link GpuContract} checks, as a program: the simulated runtime's library, the bridge's class, the check. */
public final class GpuChecks {

    /** The checks. */
    public enum Check {
        /** Work on the framework's stream reads batch after batch. */
        BATCH_AFTER_BATCH,
        /** The same, with the objects of a slot reused. */
        REUSED_LEASES,
        /** Several batches are open, and closed in any order. */
        ANY_ORDER,
        /** The stream waits for the copy, and not the thread that takes the batch. */
        THE_THREAD_DOES_NOT_WAIT
    }

    private static final int BATCH = 4;
    private static final long WIDTH = 256;
    private static final long BATCH_BYTES = BATCH * WIDTH * Float.BYTES;
    private static final long KERNEL_MICROS = 300;
    private static final int ROUNDS = 30;
    private static final int SECONDS_TO_HANG = 60;

    private final SymbolLookup simulation;
    private final StreamBridge bridge;

    @SuppressWarnings("restricted")
    private GpuChecks(Path library, StreamBridge bridge) {
        this.simulation = SymbolLookup.libraryLookup(library, Arena.global());
        this.bridge = bridge;
    }

    /**
     * Runs a check; ends with a status other than 0 if it fails.
     *
     * @param args the library, the bridge's class, the check
     * @throws Throwable if the check fails
     */
    public static void main(String[] args) throws Throwable {
        Check check = Check.valueOf(args[2]);
        StreamBridge bridge = Class.forName(args[1]).asSubclass(StreamBridge.class).getConstructor().newInstance();
        GpuChecks checks = new GpuChecks(Path.of(args[0]), bridge);
        try (Device device = Device.cuda(0)) {
            device.makeCurrent();
            try (DeviceStream stream = device.openStream("framework")) {
                switch (check) {
                    case BATCH_AFTER_BATCH -> checks.batchAfterBatch(device, stream, LeaseMode.CONFINED);
                    case REUSED_LEASES -> checks.batchAfterBatch(device, stream, LeaseMode.REUSED);
                    case ANY_ORDER -> checks.anyOrder(device, stream);
                    case THE_THREAD_DOES_NOT_WAIT -> checks.theThreadDoesNotWait(device, stream);
                }
                stream.synchronize();
            }
        }
        checks.verify();
        System.out.println("done " + check);
    }

    private static DataLoader loader(Device device, LeaseMode leases) {
        return DataLoader.builder(Samples.rows(10_000, WIDTH)).batchSize(BATCH).prefetch(2).workers(1).leases(leases)
                .device(device).open();
    }

    private void batchAfterBatch(Device device, DeviceStream stream, LeaseMode leases) throws Throwable {
        try (DataLoader loader = loader(device, leases)) {
            for (int i = 0; i < ROUNDS; i++) {
                try (Alias alias = bridge.take(loader, stream)) {
                    read(alias, stream);
                }
            }
            stream.synchronize();
        }
    }

    private void anyOrder(Device device, DeviceStream stream) throws Throwable {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (DataLoader loader = loader(device, LeaseMode.CONFINED)) {
            for (int i = 0; i < ROUNDS; i++) {
                List<Alias> open = new ArrayList<>();
                for (int n = 1 + random.nextInt(loader.memory().deviceSlots()); n > 0; n--) {
                    open.add(bridge.take(loader, stream));
                }
                Collections.shuffle(open, random);
                for (Alias alias : open) {
                    read(alias, stream);
                    alias.close();
                }
            }
            stream.synchronize();
        }
    }

    private void theThreadDoesNotWait(Device device, DeviceStream stream) throws Throwable {
        CountDownLatch isTaken = new CountDownLatch(1);
        AtomicBoolean isLate = new AtomicBoolean();
        hold(true);
        Thread releaser = new Thread(() -> {
            try {
                isLate.set(!isTaken.await(SECONDS_TO_HANG, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                isLate.set(true);
            }
            hold(false);
        }, "releases copies");
        try (DataLoader loader = loader(device, LeaseMode.CONFINED)) {
            releaser.start();
            try (Alias alias = bridge.take(loader, stream)) {
                read(alias, stream);
                boolean isIdle = stream.isIdle();
                isTaken.countDown();
                releaser.join();
                if (isLate.get()) {
                    throw new AssertionError("the thread waits for the copy");
                }
                if (isIdle) {
                    throw new AssertionError("the stream does not wait for the copy");
                }
            }
            stream.synchronize();
        } finally {
            isTaken.countDown();
            releaser.join();
        }
    }

    private void hold(boolean isHeld) {
        try {
            call("sim_set_held", FunctionDescriptor.ofVoid(JAVA_INT)).invokeExact(isHeld ? 1 : 0);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** Enqueues a kernel that reads the batch for a time. */
    private void read(Alias alias, DeviceStream stream) throws Throwable {
        int status = (int) call("sim_launch", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                JAVA_LONG)).invokeExact(stream.handle(), alias.address("row"), BATCH_BYTES, KERNEL_MICROS);
        if (status != 0) {
            verify();
            throw new AssertionError("the kernel was refused with status " + status);
        }
    }

    private void verify() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(4096);
            int violations = (int) call("sim_violations", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG))
                    .invokeExact(text, text.byteSize());
            if (violations > 0) {
                throw new AssertionError(violations + " violations of CUDA's rules:\n" + text.getString(0));
            }
        }
    }

    @SuppressWarnings("restricted")
    private MethodHandle call(String function, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(simulation.findOrThrow(function), type);
    }
}
