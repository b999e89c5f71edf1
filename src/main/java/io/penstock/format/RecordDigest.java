package io.penstock.format;

import io.penstock.io.Span;
import io.penstock.io.file.Sha256;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;

/**
 * SHA-256 of keys and values in order, each as its length in little-endian {@code u32} and its bytes. Values without
 * keys have empty ones.
 */
public final class RecordDigest {

    private static final int CHUNK_BYTES = 1 << 16;

    private final MessageDigest sha256 = Sha256.digest();
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private int used;

    /** Creates an empty digest. */
    public RecordDigest() {
    }

    /**
     * Adds a value without a key.
     *
     * @param value its bytes
     * @return this
     */
    public RecordDigest add(Span value) {
        addLength(0);
        return addPart(value);
    }

    /**
     * Adds a key and its value.
     *
     * @param key the key's bytes
     * @param value the value's bytes
     * @return this
     */
    public RecordDigest add(Span key, Span value) {
        return addPart(key).addPart(value);
    }

    private RecordDigest addPart(Span part) {
        addLength(part.byteSize());
        return addBytes(part);
    }

    /**
     * Adds bytes without a length.
     *
     * @param bytes the bytes
     * @return this
     */
    public RecordDigest addBytes(Span bytes) {
        MemorySegment segment = bytes.segment();
        for (long done = 0; done < bytes.byteSize(); ) {
            if (used == CHUNK_BYTES) {
                flush();
            }
            int step = (int) Math.min(CHUNK_BYTES - used, bytes.byteSize() - done);
            MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, bytes.byteOffset() + done, chunk, used, step);
            used += step;
            done += step;
        }
        return this;
    }

    private void addLength(long bytes) {
        if (CHUNK_BYTES - used < Integer.BYTES) {
            flush();
        }
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            chunk[used++] = (byte) (bytes >>> shift);
        }
    }

    private void flush() {
        sha256.update(chunk, 0, used);
        used = 0;
    }

    /**
     * Returns the digest; call it once.
     *
     * @return 64 hexadecimal digits
     */
    public String hex() {
        flush();
        return Sha256.hex(sha256);
    }
}
