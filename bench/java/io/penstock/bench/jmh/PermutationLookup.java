// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.sampling.Permutation;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The keyed permutation behind every shuffled order, beside what it replaces: an array that was shuffled beforehand and
 * takes 8 bytes a sample. Figures are nanoseconds a position, in the order of the epoch as a batch's plan goes, and in
 * a random order as a resumed or strided one does.
 *
 * <p>The permutation's cost does not depend on the size; the array's does, as it leaves L2 (10,000), L3 (1,000,000) and
 * both (30,000,000).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = "-Xmx1g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PermutationLookup {
    private static final int POSITIONS = 1 << 12;
    private static final int BATCH = 32;

    /** Samples of the epoch. */
    @Param({"10000", "1000000", "30000000"})
    int size;

    private final long[] positions = new long[POSITIONS];
    private final long[] batch = new long[BATCH];
    private Permutation permutation;
    private long[] array;
    private int next;

    /** Draws the array, by Fisher and Yates. */
    @Setup
    public void draw() {
        permutation = new Permutation(size, 1, 0);
        SplittableRandom random = new SplittableRandom(1);
        array = new long[size];
        for (int i = 0; i < size; i++) {
            int j = random.nextInt(i + 1);
            array[i] = array[j];
            array[j] = i;
        }
        for (int i = 0; i < POSITIONS; i++) {
            positions[i] = random.nextInt(size);
        }
    }

    private int nextBatch() {
        int first = next;
        next = first + 2 * BATCH > size ? 0 : first + BATCH;
        return first;
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long permutationInOrder() {
        permutation.fill(nextBatch(), 1, BATCH, batch);
        return batch[BATCH - 1];
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long arrayInOrder() {
        System.arraycopy(array, nextBatch(), batch, 0, BATCH);
        return batch[BATCH - 1];
    }

    @Benchmark
    @OperationsPerInvocation(POSITIONS)
    public long permutationAtRandom() {
        long sum = 0;
        for (long position : positions) {
            sum += permutation.at(position);
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(POSITIONS)
    public long arrayAtRandom() {
        long sum = 0;
        for (long position : positions) {
            sum += array[(int) position];
        }
        return sum;
    }
}
