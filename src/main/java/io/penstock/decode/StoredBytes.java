package io.penstock.decode;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Keeps the stored bytes, {@code u8[*]}: UTF-8 texts, and anything that the trainer decodes itself. */
public final class StoredBytes implements Decoder {

    /** The decoder, which has no settings. */
    public static final StoredBytes INSTANCE = new StoredBytes();

    private StoredBytes() {
    }

    @Override
    public TensorSpec field(Column column) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException(column + ": numbers need no decoder");
        }
        return new TensorSpec(column.name(), DType.U8, TensorSpec.VARIABLE);
    }

    @Override
    public Session open() {
        return new Copy();
    }

    private static final class Copy implements Session {

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) {
            return storedBytes;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            DecodeException.checkSize(storedBytes, targetBytes);
            MemorySegment.copy(stored, 0, target, targetOffset, storedBytes);
        }

        @Override
        public void close() {
            // Nothing to free.
        }
    }

    @Override
    public String toString() {
        return "bytes as stored";
    }
}
