// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code .npy} values inside other files, for one thread. A header equal to the previous one is not parsed again
 * and allocates nothing.
 */
public final class NpyValue {

    private static final String NAME = ".npy";

    private record Header(NpyArray array, TensorSpec spec, MemorySegment bytes) {

        boolean starts(MemorySegment npy, long byteSize) {
            return byteSize >= array.dataOffset() + array.dataBytes()
                    && MemorySegment.mismatch(npy, 0, array.dataOffset(), bytes, 0, array.dataOffset()) < 0;
        }
    }

    private final @Nullable DType given;
    private @Nullable Header header;
    private @Nullable MemorySegment stored;

    /**
     * Creates a reader; {@code given} is the type of elements that numpy stores as bytes because it lacks the type,
     * such as {@code bf16}. Elements of another type are then an error.
     */
    public NpyValue(@Nullable DType given) {
        this.given = given;
    }

    /**
     * Reads a value's header; returns the previous object if the header is the same. The memory must not change until
     * the value is copied.
     */
    public TensorSpec read(MemorySegment npy, long bytes) throws IOException {
        stored = null;
        Header known = header;
        if (known == null || !known.starts(npy, bytes)) {
            header = null;
            NpyArray array = NpyArray.read(NAME, "", npy.asSlice(0, bytes), bytes, given);
            known = new Header(array, array.spec(""),
                    MemorySegment.ofArray(npy.asSlice(0, array.dataOffset()).toArray(ValueLayout.JAVA_BYTE)));
            header = known;
        }
        stored = npy;
        return known.spec;
    }

    public long dataBytes() {
        return Objects.requireNonNull(header, "no value was read").array.dataBytes();
    }

    /** Copies the elements of the last value, row-major and little-endian. */
    public void copyTo(MemorySegment target, long targetOffset) {
        if (stored == null || header == null) {
            throw new IllegalStateException("no value was read");
        }
        NpyArray array = header.array;
        if (!array.isFortranOrder() && !array.type().isBigEndian()) {
            MemorySegment.copy(stored, array.dataOffset(), target, targetOffset, array.dataBytes());
        } else {
            array.convert(stored.asSlice(array.dataOffset(), array.dataBytes()),
                    target.asSlice(targetOffset, array.dataBytes()));
        }
    }
}
