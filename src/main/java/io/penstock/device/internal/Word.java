// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.internal;

import io.penstock.memory.DType;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;

/** A 64-bit word of a kernel's arguments, by its name in the C struct. */
public record Word(long offset) {
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG;

    /** The struct of this name in {@code src/main/native}; all its fields are words. */
    public static StructLayout struct(String name, String... words) {
        return MemoryLayout.structLayout(layouts(words)).withName(name);
    }

    public static MemoryLayout[] layouts(String... words) {
        return Stream.of(words).map(I64::withName).toArray(MemoryLayout[]::new);
    }

    public static Word of(StructLayout struct, String name) {
        return new Word(struct.byteOffset(PathElement.groupElement(name)));
    }

    public long get(MemorySegment arguments) {
        return arguments.get(I64, offset);
    }

    /** The word as a dtype: its ordinal in the enum, as in {@code kernel.cuh}. */
    public DType dtype(MemorySegment arguments) {
        return RawMemory.dtype(get(arguments));
    }

    public void set(MemorySegment arguments, long value) {
        arguments.set(I64, offset, value);
    }

    public void set(MemorySegment arguments, DType dtype) {
        set(arguments, dtype.ordinal());
    }
}
