// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.testing.Plans;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Collates batch after batch into one slab that is full of poison, and compares every byte with what a slow reference
 * gives: fields hold the reference's bytes, everything else, in front, between, behind, still holds poison. Each batch
 * is collated over two poisons, so a byte that is not written differs from the reference in at least one.
 */
final class PoisonedSlab implements AutoCloseable {

    private static final int GUARD_BYTES = 4096;
    private static final byte[] POISONS = {(byte) 0xA5, 0x3C};

    private final Arena arena = Arena.ofConfined();
    private final Collator collator;
    private final MemorySegment guarded;
    private final Slab slab;

    /** A field of a batch as it must be. */
    record Field(String name, DType dtype, List<Long> shape, byte[] bytes) {

        /** A field of integers, each written by its bytes, least significant first. */
        static Field of(String name, DType dtype, List<Long> shape, List<Long> values) {
            var bytes = new ByteArrayOutputStream();
            for (long value : values) {
                for (int b = 0; b < dtype.byteSize(); b++) {
                    bytes.write((int) (value >> 8 * b));
                }
            }
            return new Field(name, dtype, shape, bytes.toByteArray());
        }
    }

    PoisonedSlab(Collator collator, Dataset dataset, int batchSize) {
        this.collator = collator;
        SlabLayout layout = collator.layout(dataset, batchSize);
        this.guarded = arena.allocate(layout.capacityBytes() + 2 * GUARD_BYTES, 4096);
        this.slab = new Slab(layout, guarded.asSlice(GUARD_BYTES, layout.capacityBytes()));
    }

    /** Collates one batch and checks it. */
    void check(SampleReader in, long[] samples, Function<long[], List<Field>> reference) {
        List<Field> expected = reference.apply(samples);
        for (byte poison : POISONS) {
            guarded.fill(poison);
            collator.collate(in, Plans.of(samples), slab);
            check(expected, poison, Arrays.toString(samples));
        }
    }

    private void check(List<Field> expected, byte poison, String about) {
        byte[] image = new byte[(int) guarded.byteSize()];
        Arrays.fill(image, poison);
        assertEquals(expected.size(), slab.layout().fields().size());
        long end = 0;
        for (int f = 0; f < expected.size(); f++) {
            Field field = expected.get(f);
            assertEquals(field.name, slab.layout().fields().get(f).name());
            assertEquals(field.dtype, slab.layout().fields().get(f).dtype());
            assertEquals(field.shape, Arrays.stream(slab.shape(f)).boxed().toList(), field.name + " of " + about);
            long start = (end + 255) / 256 * 256;
            assertEquals(start, slab.offset(f), field.name + " of " + about);
            assertEquals(field.bytes.length, slab.byteSize(f));
            System.arraycopy(field.bytes, 0, image, (int) (GUARD_BYTES + start), field.bytes.length);
            end = start + field.bytes.length;
        }
        assertEquals(end, slab.usedBytes());
        assertTrue(end <= slab.segment().byteSize());
        assertArrayEquals(image, guarded.toArray(ValueLayout.JAVA_BYTE), about);
    }

    @Override
    public void close() {
        arena.close();
    }
}
