// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.TokenWidth;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The C loops of {@code bench/native/gather.c}; {@code gather.h} says what they do. Pointers go as addresses, so that a
 * call allocates nothing. A loop stays native until it ends and holds up safepoints as little as any native code does.
 *
 * <p>All of them return the nanoseconds they took.
 */
final class GatherLibrary {

    private static final SymbolLookup LIBRARY =
            SymbolLookup.libraryLookup(BenchStores.file(System.mapLibraryName("gather")), Arena.global());

    private static final MethodHandle NARROW = loop("gather_narrow", 7);
    private static final MethodHandle I32 = loop("gather_i32", 7);
    private static final MethodHandle I64 = loop("gather_i64", 7);
    private static final MethodHandle PADDED_NARROW = loop("gather_padded_narrow", 9);
    private static final MethodHandle PADDED_I32 = loop("gather_padded_i32", 9);
    private static final MethodHandle PADDED_I64 = loop("gather_padded_i64", 9);
    private static final MethodHandle ROWS = loop("gather_rows", 7);
    private static final MethodHandle SCALED = loop("gather_scaled", 10);
    private static final MethodHandle NORMALIZED = loop("gather_normalized", 10);
    private static final MethodHandle COPY = loop("copy_bytes", 4);

    private GatherLibrary() {
    }

    /** Every argument is a pointer, a size or a 64-bit value. */
    private static MethodHandle loop(String name, int arguments) {
        MemoryLayout[] types = new MemoryLayout[arguments];
        Arrays.fill(types, ValueLayout.JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(LIBRARY.findOrThrow(name),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, types));
    }

    /** Windows, as {@code CausalLm} gives them; {@code starts} are in tokens. */
    static long windows(TokenWidth width, long tokens, long starts, long batches, long batchWindows, long windowTokens,
            long ring, long ringBuffers) {
        try {
            return switch (width) {
                case STORE -> (long) NARROW.invokeExact(
                        tokens, starts, batches, batchWindows, windowTokens, ring, ringBuffers);
                case I32 -> (long) I32.invokeExact(
                        tokens, starts, batches, batchWindows, windowTokens, ring, ringBuffers);
                case I64 -> (long) I64.invokeExact(
                        tokens, starts, batches, batchWindows, windowTokens, ring, ringBuffers);
            };
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Padded documents, as {@code Pad} gives them; {@code starts} are in tokens, one more than there are documents. */
    static long padded(TokenWidth width, long tokens, long starts, long order, long batches, long batchDocuments,
            long padValue, long ring, long ringBuffers, long bufferBytes) {
        try {
            return switch (width) {
                case STORE -> (long) PADDED_NARROW.invokeExact(
                        tokens, starts, order, batches, batchDocuments, padValue, ring, ringBuffers, bufferBytes);
                case I32 -> (long) PADDED_I32.invokeExact(
                        tokens, starts, order, batches, batchDocuments, padValue, ring, ringBuffers, bufferBytes);
                case I64 -> (long) PADDED_I64.invokeExact(
                        tokens, starts, order, batches, batchDocuments, padValue, ring, ringBuffers, bufferBytes);
            };
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Rows, as {@code Stack} gives them. */
    static long rows(long rows, long order, long batches, long batchRows, long rowBytes, long ring, long ringBuffers) {
        try {
            return (long) ROWS.invokeExact(rows, order, batches, batchRows, rowBytes, ring, ringBuffers);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Images to {@code f32}: a multiplication and an addition a pixel. */
    static long scaled(long rows, long order, long batches, long batchRows, long channels, long planeBytes, long scale,
            long shift, long ring, long ringBuffers) {
        try {
            return (long) SCALED.invokeExact(
                    rows, order, batches, batchRows, channels, planeBytes, scale, shift, ring, ringBuffers);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Images to {@code f32} by the steps of {@code ImageTransform}. */
    static long normalized(long rows, long order, long batches, long batchRows, long channels, long planeBytes,
            long mean, long deviation, long ring, long ringBuffers) {
        try {
            return (long) NORMALIZED.invokeExact(
                    rows, order, batches, batchRows, channels, planeBytes, mean, deviation, ring, ringBuffers);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** A memcpy, repeated. */
    static long copy(long to, long from, long bytes, long repetitions) {
        try {
            return (long) COPY.invokeExact(to, from, bytes, repetitions);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
