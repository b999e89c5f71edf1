// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * Sums lengths to the {@code cu_seqlens} of flash-attention: where each of the concatenated sequences starts.
 *
 * <pre>
 *   lengths      [N]        any integer dtype; one below 0 counts as 0
 *   cu_seqlens   [N + 1]    i32: cu_seqlens[k] is the sum of the first k lengths
 *   longest      [1]        i32: the maximum length, 0 if there is none
 * </pre>
 *
 * <p>The sum of all lengths is at most 2^31 - 1; a larger one loses its upper bits. A GPU uses a single block: meant
 * for the lengths of a batch, not for millions.
 */
public final class CumulativeLengthTransform {
    private static final StructLayout LAYOUT = Word.struct("CumulativeLengths",
            "lengths", "length_type", "count", "cu_seqlens", "longest");
    private static final Word LENGTHS = Word.of(LAYOUT, "lengths");
    private static final Word LENGTH_TYPE = Word.of(LAYOUT, "length_type");
    private static final Word COUNT = Word.of(LAYOUT, "count");
    private static final Word CU_SEQLENS = Word.of(LAYOUT, "cu_seqlens");
    private static final Word LONGEST = Word.of(LAYOUT, "longest");

    static final Kernel KERNEL = new Kernel("penstock_cumulative_lengths", LAYOUT, CumulativeLengthTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();

    /**
     * Creates the transform.
     *
     * @param lengthType the lengths' dtype, any integer dtype
     * @throws IllegalArgumentException if it is not an integer dtype
     */
    public CumulativeLengthTransform(DType lengthType) {
        LENGTH_TYPE.set(arguments, Arguments.integer("lengths", lengthType));
    }

    /**
     * Enqueues the transform.
     *
     * @param stream the stream
     * @param lengths address of the lengths
     * @param count N
     * @param cuSeqlens address of the sums, written
     * @param longest address of the maximum length, written, or 0 for none
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(DeviceStream stream, long lengths, long count, long cuSeqlens, long longest) {
        int elementBytes = LENGTH_TYPE.dtype(arguments).byteSize();
        LENGTHS.set(arguments, Arguments.address("lengths", lengths, elementBytes));
        COUNT.set(arguments, Arguments.atLeast(0, "lengths", count));
        CU_SEQLENS.set(arguments, Arguments.address("cu_seqlens", cuSeqlens, Integer.BYTES));
        LONGEST.set(arguments, Arguments.optional("longest", longest, Integer.BYTES));
        stream.launch(KERNEL, 1, arguments);
    }

    private static void run(MemorySegment w) {
        DType lengthType = LENGTH_TYPE.dtype(w);
        long lengths = LENGTHS.get(w);
        long count = COUNT.get(w);
        long cuSeqlens = CU_SEQLENS.get(w);
        long sum = 0;
        int longest = 0;
        for (long k = 0; k < count; k++) {
            CuSeqlens.set(cuSeqlens, k, sum);
            long length = Math.max(0, RawMemory.integer(lengthType, lengths, k));
            sum += length;
            longest = Math.max(longest, (int) length);
        }
        CuSeqlens.set(cuSeqlens, count, sum);
        if (LONGEST.get(w) != 0) {
            RawMemory.setInt(LONGEST.get(w), longest);
        }
    }
}
