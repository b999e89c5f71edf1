// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static io.penstock.dlpack.DLPackCapsule.DLPackForm.VERSIONED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.dlpack.NativePeer.Product;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a producer in C gives us. */
class DLPackTensorTest {

    private int deletedBefore;

    @BeforeAll
    static void buildTheProducer() throws Exception {
        NativePeer.build();
    }

    @BeforeEach
    void count() {
        deletedBefore = NativePeer.producerDeleted();
    }

    private int deleted() {
        return NativePeer.producerDeleted() - deletedBefore;
    }

    @ParameterizedTest
    @EnumSource(DLPackForm.class)
    void isReadInPlaceAndGivenBackOnce(DLPackForm form) {
        DLPackTensor taken = DLPackTensor.take(new Product(1, 16, 3, 4).make(form), form);
        Tensor tensor = taken.tensor();
        assertEquals("u16[3,4]", tensor.toString());
        assertEquals(DLDevice.CPU, taken.device());
        assertEquals(new TensorSpec("x", DType.U16, 3, 4), taken.spec("x"));
        assertEquals(24, taken.byteSize());
        assertEquals(taken.address(), tensor.segment().address());
        for (int i = 0; i < 12; i++) {
            assertEquals((2 * i + 2) << 8 | (2 * i + 1), tensor.getLong(i));
        }
        tensor.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 99);
        assertEquals(2 << 8 | 99, tensor.getLong(0));
        assertEquals(0, deleted());
        taken.close();
        assertEquals(1, deleted());
        taken.close();
        assertEquals(1, deleted());
        assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
        assertThrows(IllegalStateException.class, taken::tensor);
        assertThrows(IllegalStateException.class, taken::address);
    }

    @Test
    void mayBeReadAndClosedByAnyThread() throws InterruptedException {
        DLPackTensor taken = DLPackTensor.take(new Product(1, 8, 5).make(VERSIONED), VERSIONED);
        AtomicInteger seen = new AtomicInteger();
        Thread.ofPlatform().start(() -> {
            seen.set((int) taken.tensor().getLong(4));
            taken.close();
        }).join();
        assertEquals(5, seen.get());
        assertEquals(1, deleted());
    }

    @ParameterizedTest
    @CsvSource({"0, 8, I8", "0, 16, I16", "0, 32, I32", "0, 64, I64", "1, 8, U8", "1, 16, U16", "1, 32, U32",
            "1, 64, U64", "2, 16, F16", "2, 32, F32", "2, 64, F64", "4, 16, BF16", "6, 8, BOOL", "10, 8, F8E4M3",
            "12, 8, F8E5M2"})
    void everyDtypeOfOursIsTaken(int code, int bits, DType dtype) {
        try (DLPackTensor taken = DLPackTensor.take(new Product(code, bits, 2, 3).make(VERSIONED), VERSIONED)) {
            assertEquals(new TensorSpec("x", dtype, 2, 3), taken.spec("x"));
            assertEquals(6, taken.tensor().elementCount());
        }
        assertEquals(1, deleted());
    }

    @Test
    void stridesMayBeGivenOrNotAndDoNotMatterWhereNothingSteps() {
        for (Product made : new Product[] {
            new Product(1, 8, 2, 3, 4),
            new Product(1, 8, 2, 3, 4).strides(12, 4, 1),
            new Product(1, 8, 2, 1, 4).strides(4, -77, 1),
            new Product(1, 8, 1, 1).strides(5, 5),
            new Product(1, 8, 3, 0, 2).strides(9, 9, 9),
            new Product(1, 8)}) {
            try (DLPackTensor taken = DLPackTensor.take(made.make(VERSIONED), VERSIONED)) {
                Tensor tensor = taken.tensor();
                for (int i = 0; i < tensor.elementCount(); i++) {
                    assertEquals(i + 1, tensor.getLong(i));
                }
            }
        }
        assertEquals(6, deleted());
    }

    @Test
    void theByteOffsetCounts() {
        try (DLPackTensor taken = DLPackTensor.take(
                new Product(1, 32, 2).byteOffset(12).make(VERSIONED), VERSIONED)) {
            assertEquals(12, taken.address() % 256);
            assertEquals(0x04030201, taken.tensor().getLong(0));
        }
    }

    @Test
    void whatIsReadOnlyCannotBeWritten() {
        try (DLPackTensor taken = DLPackTensor.take(new Product(1, 8, 4).flags(1).make(VERSIONED), VERSIONED)) {
            assertTrue(taken.readOnly());
            assertTrue(taken.tensor().segment().isReadOnly());
        }
        try (DLPackTensor taken = DLPackTensor.take(new Product(1, 8, 4).flags(2).make(VERSIONED), VERSIONED)) {
            assertFalse(taken.readOnly());
            assertFalse(taken.tensor().segment().isReadOnly());
        }
    }

    @Test
    void pinnedMemoryIsReadAndDeviceMemoryIsAnAddress() {
        try (DLPackTensor pinned = DLPackTensor.take(new Product(1, 8, 4).device(3, 0).make(VERSIONED), VERSIONED)) {
            assertEquals(new DLDevice(DLDevice.DeviceType.CUDA_HOST, 0), pinned.device());
            assertEquals(4, pinned.tensor().getLong(3));
        }
        for (int type : new int[] {2, 13}) {
            try (DLPackTensor device = DLPackTensor.take(
                    new Product(2, 32, 4).device(type, 1).byteOffset(256).make(VERSIONED), VERSIONED)) {
                assertEquals(type, device.device().type().code());
                assertEquals(1, device.device().id());
                assertEquals(0, device.address() % 256);
                assertEquals(new TensorSpec("x", DType.F32, 4), device.spec("x"));
                assertThrows(UnsupportedOperationException.class, device::tensor);
            }
        }
        assertEquals(3, deleted());
    }

    @ParameterizedTest
    @EnumSource(DLPackForm.class)
    void whatIsRefusedIsNamedAndGivenBackOnce(DLPackForm form) {
        refused(form, "lanes", new Product(2, 32, 4).lanes(4));
        refused(form, "code 5 of 64 bits", new Product(5, 64, 4));
        refused(form, "code 8 of 8 bits", new Product(8, 8, 4));
        refused(form, "code 2 of 128 bits", new Product(2, 128, 4));
        refused(form, "code 1 of 4 bits", new Product(1, 4, 4));
        refused(form, "device type 10", new Product(1, 8, 4).device(10, 0));
        refused(form, "dimension 0 steps by 8 elements", new Product(1, 8, 3, 4).strides(8, 1));
        refused(form, "dimension 1 steps by 3 elements", new Product(1, 8, 3, 4).strides(1, 3));
        refused(form, "dimension 0 steps by -1 elements", new Product(1, 8, 4).strides(-1));
        refused(form, "dimension 0 steps by 0 elements", new Product(1, 8, 4).strides(0));
        refused(form, "multiple of its elements' 4 bytes", new Product(1, 32, 4).byteOffset(2));
        refused(form, "shape [3, -1]", new Product(1, 8, 3, -1));
        refused(form, "-1 dimensions", new Product(1, 8, 3).rank(-1));
        refused(form, "65 dimensions", new Product(1, 8, new long[65]));
        refused(form, "2^63", new Product(1, 8, 1L << 40, 1L << 40).bytes(8));
        refused(form, "without data", new Product(1, 8, 4).bytes(0));
    }

    private void refused(DLPackForm form, String reason, Product made) {
        long address = made.make(form);
        int before = deleted();
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> DLPackTensor.take(address, form), reason);
        assertTrue(refusal.getMessage().contains(reason), refusal.getMessage());
        assertEquals(before + 1, deleted(), reason);
    }

    @Test
    void ofAnotherMajorVersionOnlyTheDeleterIsUsed() {
        // Every field behind the flags is nonsense, as it may well be in another major version.
        refused(VERSIONED, "version 2.0, expected 1.x", new Product(77, 3, new long[65]).major(2).device(99, 99));
        refused(VERSIONED, "version 0.0, expected 1.x", new Product(1, 8, 4).major(0));
        assertThrows(IllegalArgumentException.class, () -> DLPackTensor.take(0, VERSIONED));
    }

    @ParameterizedTest
    @EnumSource(DLPackForm.class)
    void whatWeExportWeCanTake(DLPackForm form) {
        AtomicInteger told = new AtomicInteger();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(24, 256);
            Tensor tensor = Tensor.of(memory, DType.I32, 2, 3);
            DLPackCapsule capsule = DLPackCapsule.of(tensor, form, told::incrementAndGet);
            memory.setAtIndex(ValueLayout.JAVA_INT, 5, -7);
            try (DLPackTensor taken = DLPackTensor.take(capsule.handOver(), form)) {
                assertEquals("i32[2,3]", taken.tensor().toString());
                assertEquals(-7, taken.tensor().getLong(5));
                assertEquals(memory.address(), taken.address());
                assertEquals(0, told.get());
            }
            assertEquals(1, told.get());
            capsule.close();
            assertEquals(1, told.get());
        }
    }
}
