// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.memory.Tensor;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads batches after they were closed, in Java or behind the JVM's back. Run by {@link ParanoidLeasesTest}. */
public final class LateReaderProgram {

    private static final int WIDTH = 4096;
    private static final int BATCH_SIZE = 4;

    /** Copies the first byte of a batch. */
    private static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ValueLayout.JAVA_LONG.withName("from"), ValueLayout.JAVA_LONG.withName("to"));
    private static final Kernel LOOK = new Kernel("look", LAYOUT, arguments -> at(arguments.get(
            ValueLayout.JAVA_LONG, 8)).set(ValueLayout.JAVA_BYTE, 0, at(arguments.get(ValueLayout.JAVA_LONG, 0))
                    .get(ValueLayout.JAVA_BYTE, 0)));

    private LateReaderProgram() {
    }

    /**
     * Prints what it has come to.
     *
     * @param arguments {@code java}, {@code streams} or {@code native}; the lease mode; the transfer mode
     * @throws Throwable if a check fails
     */
    public static void main(String[] arguments) throws Throwable {
        LeaseMode leases = LeaseMode.valueOf(arguments[1]);
        TransferMode transfer = TransferMode.valueOf(arguments[2]);
        switch (arguments[0]) {
            case "java" -> readInJava(leases, transfer);
            case "streams" -> readOnAStream(leases, transfer);
            default -> readNatively(leases, transfer);
        }
        System.out.println("the end");
    }

    private static DataLoaderBuilder loader(LeaseMode leases, TransferMode transfer) {
        return DataLoader.builder(new ByteRows(1_000, WIDTH)).batchSize(BATCH_SIZE).shuffle(5).workers(2).prefetch(2)
                .leases(leases).transfer(transfer);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address) {
        return MemorySegment.ofAddress(address).reinterpret(1);
    }

    private static void check(Batch batch, Tensor tensor) {
        for (int row = 0; row < batch.count(); row++) {
            for (int i = 0; i < WIDTH; i += 101) {
                assertEquals(ByteRows.at(batch.sample(row), i), (byte) tensor.getLong((long) row * WIDTH + i));
            }
        }
    }

    private static void readInJava(LeaseMode leases, TransferMode transfer) {
        try (DataLoader loader = loader(leases, transfer).open()) {
            Set<Long> addresses = new HashSet<>();
            List<Batch> closed = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                Batch batch = loader.next();
                Tensor tensor = batch.tensor("row");
                MemorySegment slab = batch.segment();
                ByteBuffer buffer = batch.buffer("row");
                check(batch, tensor);
                assertEquals(batch.address("row"), tensor.segment().address());
                assertTrue(addresses.add(batch.address("row")), "each batch has an address of its own");
                batch.close();
                closed.add(batch);
                assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
                assertThrows(IllegalStateException.class, () -> slab.get(ValueLayout.JAVA_BYTE, 0));
                assertThrows(IllegalStateException.class, () -> buffer.get(0));
                closed.forEach(old -> assertThrows(IllegalStateException.class, () -> old.tensor("row")));
            }
        }
    }

    /** What is enqueued before a batch is closed reads that batch, however late it runs. */
    private static void readOnAStream(LeaseMode leases, TransferMode transfer) {
        int lagBytes = 8 << 20;
        try (Device device = Device.host();
                DeviceStream trainer = device.openStream("trainer");
                PinnedBuffer lag = device.allocatePinned(lagBytes);
                DeviceBuffer lagTarget = device.allocate(lagBytes);
                PinnedBuffer seen = device.allocatePinned(100);
                DataLoader loader = loader(leases, transfer).device(device).open()) {
            MemorySegment arguments = LOOK.newArguments();
            byte[] expected = new byte[40];
            for (int i = 0; i < expected.length; i++) {
                try (Batch batch = loader.next(trainer)) {
                    trainer.copyToDevice(lagTarget, 0, lag, 0, lagBytes);
                    arguments.set(ValueLayout.JAVA_LONG, 0, batch.address("row"));
                    arguments.set(ValueLayout.JAVA_LONG, 8, seen.segment().address() + i);
                    trainer.launch(LOOK, 1, arguments);
                    expected[i] = ByteRows.at(batch.sample(0), 0);
                }
            }
            trainer.synchronize();
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], seen.segment().get(ValueLayout.JAVA_BYTE, i), "batch " + i);
            }
        }
    }

    @SuppressWarnings("restricted")
    private static void readNatively(LeaseMode leases, TransferMode transfer) throws Throwable {
        var strnlen = Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("strnlen"),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        DataLoader loader = loader(leases, transfer).open();
        Batch kept = loader.next();
        long address = kept.address("row");
        long before = (long) strnlen.invokeExact(address, (long) WIDTH);
        System.out.println("read " + before + " bytes of an open batch");
        kept.close();
        for (int i = 0; i < 20; i++) {
            loader.next().close();
        }
        System.out.println("reading a closed batch");
        long after = (long) strnlen.invokeExact(address, (long) WIDTH);
        System.out.println("survived, and read " + after + " bytes");
    }
}
