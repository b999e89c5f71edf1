// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static io.penstock.dlpack.DLPackCapsule.DLPackForm.UNVERSIONED;
import static io.penstock.dlpack.DLPackCapsule.DLPackForm.VERSIONED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.dlpack.NativePeer.Described;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What we export, as a consumer in C finds it. */
class DLPackCapsuleTest {

    /** DLPack's code and bits of each dtype, from {@code dlpack.h}, version 1.1. */
    private static final Map<DType, int[]> CODES = Map.ofEntries(
            Map.entry(DType.I8, new int[] {0, 8}), Map.entry(DType.I16, new int[] {0, 16}),
            Map.entry(DType.I32, new int[] {0, 32}), Map.entry(DType.I64, new int[] {0, 64}),
            Map.entry(DType.U8, new int[] {1, 8}), Map.entry(DType.U16, new int[] {1, 16}),
            Map.entry(DType.U32, new int[] {1, 32}), Map.entry(DType.U64, new int[] {1, 64}),
            Map.entry(DType.F16, new int[] {2, 16}), Map.entry(DType.F32, new int[] {2, 32}),
            Map.entry(DType.F64, new int[] {2, 64}), Map.entry(DType.BF16, new int[] {4, 16}),
            Map.entry(DType.BOOL, new int[] {6, 8}), Map.entry(DType.F8E4M3, new int[] {10, 8}),
            Map.entry(DType.F8E5M2, new int[] {12, 8}));

    private final AtomicInteger told = new AtomicInteger();

    @BeforeAll
    static void buildTheConsumer() throws Exception {
        NativePeer.build();
    }

    private DLPackCapsule export(DLPackForm form, DType dtype, long... shape) {
        return DLPackCapsule.of(DLDevice.CPU, 0x1000, dtype, shape, form, told::incrementAndGet);
    }

    @Test
    void structsHaveTheSizesOfThePublishedOnes() {
        assertEquals(48, Structs.TENSOR.byteSize());
        assertEquals(64, Structs.MANAGED.byteSize());
        assertEquals(80, Structs.VERSIONED.byteSize());
    }

    @ParameterizedTest
    @EnumSource(DLPackForm.class)
    void everyFieldOfTheStructIsAsTheConsumerExpectsIt(DLPackForm form) {
        assertEquals(Set.of(DType.values()), CODES.keySet());
        CODES.forEach((dtype, code) -> {
            try (DLPackCapsule capsule = DLPackCapsule.of(DLDevice.cuda(3), 0x7700, dtype, new long[] {5, 1, 7},
                    form, told::incrementAndGet)) {
                Described seen = NativePeer.describe(capsule.address(), form);
                assertEquals(form, capsule.form());
                assertEquals(form == VERSIONED ? 1 : -1, seen.major());
                assertEquals(form == VERSIONED ? 1 : -1, seen.minor());
                assertEquals(form == VERSIONED ? 0 : -1, seen.flags());
                assertTrue(seen.hasDeleter());
                assertEquals(0x7700, seen.data());
                assertEquals(2, seen.deviceType());
                assertEquals(3, seen.deviceId());
                assertEquals(3, seen.rank());
                assertEquals(code[0], seen.code(), dtype + " code");
                assertEquals(code[1], seen.bits(), dtype + " bits");
                assertEquals(1, seen.lanes());
                assertEquals(0, seen.byteOffset());
                assertTrue(seen.hasArrays());
                assertArrayEquals(new long[] {5, 1, 7}, seen.shape());
                assertArrayEquals(new long[] {7, 7, 1}, seen.strides());
            }
        });
        assertEquals(CODES.size(), told.get());
    }

    @ParameterizedTest
    @EnumSource(DLPackForm.class)
    void aTensorMayHaveNoDimensionsOrAsManyAsFit(DLPackForm form) {
        for (int rank = 0; rank <= ExportTable.MAX_RANK; rank++) {
            long[] shape = new long[rank];
            Arrays.fill(shape, 2);
            long[] strides = new long[rank];
            Arrays.setAll(strides, d -> 1L << shape.length - 1 - d);
            try (DLPackCapsule capsule = export(form, DType.U8, shape);
                    DLPackCapsule neighbour = export(form, DType.U8, 9)) {
                Described seen = NativePeer.describe(capsule.address(), form);
                assertArrayEquals(shape, seen.shape());
                assertArrayEquals(strides, seen.strides());
                assertArrayEquals(new long[] {9}, NativePeer.describe(neighbour.address(), form).shape());
            }
        }
        int before = DLPackCapsule.live();
        assertThrows(IllegalArgumentException.class, () -> export(form, DType.U8, new long[ExportTable.MAX_RANK + 1]));
        assertThrows(IllegalArgumentException.class, () -> export(form, DType.U8, 3, -1));
        assertEquals(before, DLPackCapsule.live());
    }

    @Test
    void anEmptyTensorHasNoData() {
        try (DLPackCapsule capsule = export(VERSIONED, DType.I64, 4, 0, 3)) {
            Described seen = NativePeer.describe(capsule.address(), VERSIONED);
            assertEquals(0, seen.data());
            assertArrayEquals(new long[] {4, 0, 3}, seen.shape());
        }
    }

    @Test
    void readOnlyMemoryIsMarkedOrRefused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64, 256);
            Tensor tensor = Tensor.of(memory.asReadOnly(), DType.U16, 32);
            try (DLPackCapsule capsule = DLPackCapsule.of(tensor, VERSIONED, told::incrementAndGet)) {
                Described seen = NativePeer.describe(capsule.address(), VERSIONED);
                assertEquals(1, seen.flags());
                assertEquals(memory.address(), seen.data());
                assertEquals(1, seen.deviceType());
                assertEquals(0, seen.deviceId());
            }
            assertThrows(IllegalArgumentException.class,
                    () -> DLPackCapsule.of(tensor, UNVERSIONED, told::incrementAndGet));
            assertThrows(IllegalArgumentException.class, () -> DLPackCapsule.of(
                    Tensor.of(MemorySegment.ofArray(new byte[4]), DType.U8, 4), VERSIONED, told::incrementAndGet));
        }
        assertEquals(1, told.get());
    }

    @ParameterizedTest
    @EnumSource(DLPackForm.class)
    void theDeleterTellsTheOwnerOnceFromWhateverThread(DLPackForm form) {
        int before = DLPackCapsule.live();
        DLPackCapsule capsule = export(form, DType.U8, 3);
        assertEquals(before + 1, DLPackCapsule.live());
        long address = capsule.handOver();
        capsule.close();
        assertEquals(0, told.get());
        NativePeer.delete(address, form, 2);
        assertEquals(1, told.get());
        NativePeer.delete(address, form, 1);
        assertEquals(1, told.get());
        assertEquals(before, DLPackCapsule.live());
    }

    @Test
    void aCapsuleThatIsNotHandedOverDeletesItsTensorOnce() {
        DLPackCapsule capsule = export(VERSIONED, DType.U8, 3);
        long address = capsule.address();
        capsule.close();
        capsule.close();
        assertEquals(1, told.get());
        assertThrows(IllegalStateException.class, capsule::address);
        assertThrows(IllegalStateException.class, capsule::handOver);
        NativePeer.delete(address, VERSIONED, 1);
        assertEquals(1, told.get());
    }

    @Test
    void aSecondDeletionDoesNotHitTheTensorsThatComeAfterIt() {
        long first = export(VERSIONED, DType.U8, 3).handOver();
        NativePeer.delete(first, VERSIONED, 1);
        List<DLPackCapsule> later = new ArrayList<>();
        for (int i = 0; i < ExportTable.QUARANTINE; i++) {
            later.add(export(VERSIONED, DType.U8, 3));
        }
        assertTrue(later.stream().noneMatch(capsule -> capsule.address() == first));
        NativePeer.delete(first, VERSIONED, 1);
        assertEquals(1, told.get());
        later.forEach(DLPackCapsule::close);
        assertEquals(1 + later.size(), told.get());
    }

    @Test
    void theTableGrowsWithTheTensorsThatAreOutAndNotWithThoseThatWere() {
        for (int round = 0; round < 20; round++) {
            Set<Long> addresses = new HashSet<>();
            List<DLPackCapsule> out = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                out.add(export(VERSIONED, DType.U8, i));
                addresses.add(out.getLast().address());
            }
            assertEquals(1000, addresses.size());
            for (int i = 0; i < 1000; i++) {
                assertEquals(i, NativePeer.describe(out.get(i).address(), VERSIONED).shape()[0]);
            }
            out.forEach(DLPackCapsule::close);
        }
        for (int i = 0; i < 100_000; i++) {
            export(VERSIONED, DType.U8, 3).close();
        }
        assertEquals(120_000, told.get());
        int bound = 1000 + ExportTable.QUARANTINE + 2 * ExportTable.CHUNK_BLOCKS;
        assertTrue(ExportTable.capacity() <= bound, ExportTable.capacity() + " blocks");
    }

    @Test
    void threadsThatExportAndDeleteAtTheSameTimeShareNoBlock() throws Exception {
        int before = DLPackCapsule.live();
        int threads = 6;
        int rounds = 5_000;
        CountDownLatch start = new CountDownLatch(1);
        AtomicInteger wrong = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int width = t + 1;
            all.add(Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                    for (int i = 0; i < rounds; i++) {
                        try (DLPackCapsule capsule = export(VERSIONED, DType.U16, i, width)) {
                            Described seen = NativePeer.describe(capsule.address(), VERSIONED);
                            if (seen.shape()[0] != i || seen.shape()[1] != width) {
                                wrong.incrementAndGet();
                            }
                        }
                    }
                } catch (Throwable e) {
                    wrong.incrementAndGet();
                }
            }));
        }
        start.countDown();
        for (Thread thread : all) {
            thread.join();
        }
        assertEquals(0, wrong.get());
        assertEquals(threads * rounds, told.get());
        assertEquals(before, DLPackCapsule.live());
    }

    @Test
    void anOwnerThatThrowsDoesNotEndTheProcess() {
        long address = DLPackCapsule.of(DLDevice.CPU, 0x1000, DType.U8, new long[] {1}, VERSIONED, () -> {
            told.incrementAndGet();
            throw new IllegalStateException("as the test wants it");
        }).handOver();
        NativePeer.delete(address, VERSIONED, 2);
        assertEquals(1, told.get());
    }

    @Test
    void anAddressThatIsNoTensorsIsLeftAlone() {
        try (DLPackCapsule capsule = export(VERSIONED, DType.U8, 3)) {
            for (long wrong : new long[] {0, -1, capsule.address() + 8, capsule.address() - 1}) {
                ExportTable.delete(wrong);
            }
            assertEquals(0, told.get());
        }
    }
}
