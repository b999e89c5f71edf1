// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/**
 * What malloc has given out to this process, by glibc's {@code mallinfo2}. The JVM's compilers are part of it: they take
 * and return megabytes as they run.
 */
public final class NativeMemory {

    /** A forgotten tensor takes some 400 bytes. */
    private static final int ALLOWED_BYTES_PER_STEP = 160;

    private static final int ROUNDS = 6;

    private static final StructLayout MALLINFO2 = MemoryLayout.structLayout(
            JAVA_LONG.withName("arena"), JAVA_LONG.withName("ordblks"), JAVA_LONG.withName("smblks"),
            JAVA_LONG.withName("hblks"), JAVA_LONG.withName("hblkhd"), JAVA_LONG.withName("usmblks"),
            JAVA_LONG.withName("fsmblks"), JAVA_LONG.withName("uordblks"), JAVA_LONG.withName("fordblks"),
            JAVA_LONG.withName("keepcost"));
    private static final long IN_USE = offset("uordblks");
    private static final long MAPPED = offset("hblkhd");

    private final MethodHandle mallinfo2;

    /** Finds the call. */
    @SuppressWarnings("restricted")
    public NativeMemory() {
        Linker linker = Linker.nativeLinker();
        mallinfo2 = linker.downcallHandle(linker.defaultLookup().findOrThrow("mallinfo2"),
                FunctionDescriptor.of(MALLINFO2));
    }

    /** Steps of a trainer. */
    @FunctionalInterface
    public interface Steps {

        /**
         * Runs them.
         *
         * @param count the number of steps
         * @throws Exception if a step fails
         */
        void run(int count) throws Exception;
    }

    /** {@return the bytes that are allocated now} */
    public long allocatedBytes() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) mallinfo2.invokeExact((SegmentAllocator) arena);
            return info.get(JAVA_LONG, IN_USE) + info.get(JAVA_LONG, MAPPED);
        } catch (Throwable e) {
            throw new AssertionError("mallinfo2 failed", e);
        }
    }

    /**
     * Asserts that steps leave nothing allocated: runs them in rounds until one leaves less than 160 bytes a step. What
     * each step forgets shows in each round; what a compiler of the JVM takes for a while does not.
     *
     * @param count the number of steps in a round, which have run before as a warm-up
     * @param steps the steps
     * @throws Exception if a step fails
     */
    public void assertLeftByNo(int count, Steps steps) throws Exception {
        StringBuilder grown = new StringBuilder();
        for (int round = 0; round < ROUNDS; round++) {
            long before = allocatedBytes();
            steps.run(count);
            long bytes = allocatedBytes() - before;
            if (bytes < (long) count * ALLOWED_BYTES_PER_STEP) {
                return;
            }
            grown.append(' ').append(bytes);
        }
        throw new AssertionError("each round of " + count + " steps left native memory; bytes:" + grown);
    }

    private static long offset(String field) {
        return MALLINFO2.byteOffset(MemoryLayout.PathElement.groupElement(field));
    }
}
