package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Lengths to {@code cu_seqlens} of flash-attention: where each sequence begins if they stand one after another.
 *
 * <pre>
 *   lengths      [N]        any integer dtype; one below 0 counts as 0
 *   cu_seqlens   [N + 1]    i32: cu_seqlens[k] is the sum of the first k lengths
 *   longest      [1]        i32: the greatest length, 0 if there is none
 * </pre>
 *
 * <p>The sum of all lengths is at most 2^31 - 1; what exceeds it loses its upper bits. On a GPU one block does it:
 * meant for the lengths of a batch, not for millions.
 */
public final class CumulativeLengthTransform {
    private static final int LENGTHS = 0;
    private static final int LENGTH_TYPE = 1;
    private static final int COUNT = 2;
    private static final int CU_SEQLENS = 3;
    private static final int LONGEST = 4;

    private static final Kernel KERNEL =
            new Kernel("penstock_cumulative_lengths", 5, CumulativeLengthTransform::run);

    private final long[] words = new long[KERNEL.words()];

    /**
     * Sums of lengths.
     *
     * @param lengthType the lengths' dtype, any integer one
     * @throws IllegalArgumentException if it is none
     */
    public CumulativeLengthTransform(DType lengthType) {
        words[LENGTH_TYPE] = RawMemory.word(Arguments.integer("lengths", lengthType));
    }

    /**
     * Enqueues the transform.
     *
     * @param stream where
     * @param lengths address of the lengths
     * @param count N
     * @param cuSeqlens address of the sums to write
     * @param longest address of the greatest length to write, or 0 to write none
     * @throws IllegalArgumentException if an address is not a multiple of its element size
     */
    public synchronized void enqueue(DeviceStream stream, long lengths, long count, long cuSeqlens, long longest) {
        int elementBytes = RawMemory.dtype(words[LENGTH_TYPE]).byteSize();
        words[LENGTHS] = Arguments.address("lengths", lengths, elementBytes);
        words[COUNT] = Arguments.atLeast(0, "lengths", count);
        words[CU_SEQLENS] = Arguments.address("cu_seqlens", cuSeqlens, Integer.BYTES);
        words[LONGEST] = Arguments.optional("longest", longest, Integer.BYTES);
        stream.launch(KERNEL, 1, words);
    }

    private static void run(long[] w) {
        DType lengthType = RawMemory.dtype(w[LENGTH_TYPE]);
        long sum = 0;
        int longest = 0;
        for (long k = 0; k < w[COUNT]; k++) {
            CuSeqlens.set(w[CU_SEQLENS], k, sum);
            long length = Math.max(0, RawMemory.integer(lengthType, w[LENGTHS], k));
            sum += length;
            longest = Math.max(longest, (int) length);
        }
        CuSeqlens.set(w[CU_SEQLENS], w[COUNT], sum);
        if (w[LONGEST] != 0) {
            RawMemory.setInt(w[LONGEST], longest);
        }
    }
}
