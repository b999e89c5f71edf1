// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SlabTest {

    private static final SlabLayout LAYOUT = SlabLayout.of(new TensorSpec("tokens", DType.U16, 32, 1025),
            new TensorSpec("lengths", DType.I32, 32), new TensorSpec("mask", DType.BOOL, 32, 1025),
            new TensorSpec("scalar", DType.F64));

    @Test
    void fieldsStartAtTheFirstMultipleOf256BehindTheOneBefore() {
        Slab slab = Slab.onDevice(LAYOUT, 0);
        assertEquals(0, slab.offset(0));
        assertEquals(65_792, slab.offset(1), "32 · 1025 · 2 = 65600, which 257 · 256 = 65792 is the next to");
        assertEquals(66_048, slab.offset(2));
        assertEquals(99_072, slab.offset(3));
        assertEquals(99_080, slab.usedBytes());
        assertEquals(99_328, LAYOUT.capacityBytes());
    }

    @Test
    void randomShapesNeverOverlapAndNeverExceedTheCapacity() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 2000; i++) {
            List<TensorSpec> fields = new ArrayList<>();
            for (int f = random.nextInt(1, 8); f > 0; f--) {
                fields.add(new TensorSpec("f" + f, DType.values()[random.nextInt(DType.values().length)],
                        random.nextLong(50), random.nextLong(50)));
            }
            SlabLayout layout = new SlabLayout(fields);
            Slab slab = Slab.onDevice(layout, 0);
            for (int f = 0; f < fields.size(); f++) {
                slab.setDim(f, 0, random.nextLong(fields.get(f).dim(0) + 1));
                slab.setDim(f, 1, random.nextLong(fields.get(f).dim(1) + 1));
            }
            slab.layOut();
            long end = 0;
            for (int f = 0; f < fields.size(); f++) {
                assertEquals(0, slab.offset(f) % 256, "seed 3, layout " + i);
                assertTrue(slab.offset(f) >= end && slab.offset(f) < end + 256, "seed 3, layout " + i);
                end = slab.offset(f) + slab.byteSize(f);
            }
            assertEquals(end, slab.usedBytes());
            assertTrue(end <= layout.capacityBytes());
            assertEquals(0, layout.capacityBytes() % 256);
        }
    }

    @Test
    void aShorterBatchIsAShorterSlabAndItsTensorsAreItsFields() {
        Slab slab = new Slab(LAYOUT, MemorySegment.ofArray(new byte[(int) LAYOUT.capacityBytes()]));
        slab.setDim(0, 1, 10);
        slab.setDim(2, 1, 10);
        slab.layOut();
        assertEquals(768, slab.offset(1));
        assertArrayEquals(new long[] {32, 10}, slab.tensor(0).shape());
        slab.segment().set(java.lang.foreign.ValueLayout.JAVA_BYTE, slab.offset(2) + 11, (byte) 1);
        assertEquals(1, slab.tensor(2).row(1).getLong(1));
        assertThrows(IllegalArgumentException.class, () -> slab.setDim(0, 1, 1026));
        assertThrows(IllegalArgumentException.class, () -> slab.setDim(0, 1, -1));
    }

    @Test
    void fieldsMayLieElsewhereThanBehindEachOther() {
        Slab slab = Slab.onDevice(
                SlabLayout.of(new TensorSpec("a", DType.U8, 3), new TensorSpec("b", DType.U8, 5)), 0);
        long[] starts = {4096, 256};
        slab.setDim(0, 0, 2);
        slab.layOut(starts);
        starts[0] = 0;
        assertEquals(4096, slab.offset(0));
        assertEquals(256, slab.offset(1));
        assertEquals(4098, slab.usedBytes());
    }

    @Test
    void fieldsWithoutElementsTakeNoRoom() {
        Slab slab = Slab.onDevice(LAYOUT, 0);
        slab.setDim(0, 1, 0);
        slab.setDim(1, 0, 0);
        slab.setDim(2, 1, 0);
        slab.layOut();
        for (int f = 0; f < 4; f++) {
            assertEquals(0, slab.offset(f));
        }
        assertEquals(8, slab.usedBytes());
    }

    @Test
    void sizesBeyond32BitsAreExact() {
        SlabLayout layout = SlabLayout.of(new TensorSpec("a", DType.I64, 3, 1L << 40), new TensorSpec("b", DType.U8, 1),
                new TensorSpec("c", DType.F32, 1L << 31, 3));
        Slab slab = Slab.onDevice(layout, 0);
        assertEquals(3L << 43, slab.offset(1));
        assertEquals((3L << 43) + 256, slab.offset(2));
        assertEquals((3L << 43) + 256 + (3L << 33), slab.usedBytes());
        assertEquals(slab.usedBytes(), layout.capacityBytes());
    }

    @Test
    void whatIsNoLayoutIsRefused() {
        assertThrows(IllegalArgumentException.class, SlabLayout::of);
        assertThrows(IllegalArgumentException.class,
                () -> SlabLayout.of(new TensorSpec("a", DType.U8, 1), new TensorSpec("a", DType.U8, 1)));
        assertThrows(IllegalArgumentException.class,
                () -> SlabLayout.of(new TensorSpec("a", DType.U8, TensorSpec.VARIABLE)));
        assertThrows(IllegalArgumentException.class,
                () -> new Slab(LAYOUT, MemorySegment.ofArray(new byte[1000])));
        assertThrows(ArithmeticException.class, () -> SlabLayout.of(new TensorSpec("a", DType.U8, Long.MAX_VALUE),
                new TensorSpec("b", DType.U8, Long.MAX_VALUE)).capacityBytes());
        assertTrue(assertThrows(IllegalArgumentException.class, () -> LAYOUT.indexOf("labels")).getMessage()
                .contains("[tokens, lengths, mask, scalar]"));
        assertEquals(2, LAYOUT.indexOf("mask"));
    }

    @Test
    void aFieldsBytesMayBeBoundedBelowThoseOfItsGreatestShape() {
        SlabLayout layout = SlabLayout.of(new TensorSpec("ids", DType.I32, 1000, 500),
                new TensorSpec("lengths", DType.I32, 1000)).bounded(0, 4 * 2000);
        assertEquals(SlabLayout.align(8000) + SlabLayout.align(4000), layout.capacityBytes());
        var slab = Slab.onDevice(layout, 0);
        assertEquals(0, slab.dim(0, 0));
        assertTrue(slab.usedBytes() <= layout.capacityBytes());
        for (long[] shape : new long[][] {{1000, 2}, {4, 500}, {40, 50}, {0, 500}, {1000, 0}}) {
            slab.setDim(0, 0, shape[0]);
            slab.setDim(0, 1, shape[1]);
            slab.layOut();
            assertEquals(shape[0] * shape[1] * 4, slab.byteSize(0));
            assertTrue(slab.usedBytes() <= layout.capacityBytes());
        }
        slab.setDim(0, 0, 41);
        slab.setDim(0, 1, 50);
        var error = assertThrows(IllegalStateException.class, slab::layOut);
        assertTrue(error.getMessage().contains("ids: the batch has the shape [41, 50]"), error.getMessage());
        assertEquals(layout, layout.bounded(1, 1 << 20), "a bound beyond the greatest shape changes nothing");
        assertThrows(IllegalArgumentException.class, () -> layout.bounded(0, -1));
        assertThrows(IllegalArgumentException.class, () -> SlabLayout.of(new TensorSpec("one", DType.I32))
                .bounded(0, 2));
    }
}
