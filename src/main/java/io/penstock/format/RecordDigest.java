// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.internal.Sha256;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;

/**
 * SHA-256 of values that are often small. A record is a key and a value, each as its length in little-endian
 * {@code u32} and its bytes; a value without a key has an empty one.
 */
public final class RecordDigest {

    private static final int CHUNK_BYTES = 1 << 16;

    private final MessageDigest sha256 = Sha256.digest();
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private final MemorySegment segment = MemorySegment.ofArray(chunk);
    private int used;
    private long byteSize;

    public RecordDigest add(Span value) {
        return addInt(0).addPart(value);
    }

    public RecordDigest add(Span key, Span value) {
        return addPart(key).addPart(value);
    }

    private RecordDigest addPart(Span part) {
        return addInt((int) part.byteSize()).addBytes(part);
    }

    /** Adds bytes without a length. */
    public RecordDigest addBytes(Span bytes) {
        MemorySegment from = bytes.segment();
        for (long done = 0; done < bytes.byteSize(); ) {
            makeRoom(1);
            int step = (int) Math.min(CHUNK_BYTES - used, bytes.byteSize() - done);
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, bytes.byteOffset() + done, chunk, used, step);
            used += step;
            done += step;
        }
        byteSize += bytes.byteSize();
        return this;
    }

    /** Adds the first bytes of an array without a length. */
    public RecordDigest addBytes(byte[] bytes, int count) {
        flush();
        sha256.update(bytes, 0, count);
        byteSize += count;
        return this;
    }

    public RecordDigest addByte(int value) {
        makeRoom(Byte.BYTES);
        chunk[used++] = (byte) value;
        byteSize++;
        return this;
    }

    /** Adds a little-endian number of 32 bits. */
    public RecordDigest addInt(int value) {
        makeRoom(Integer.BYTES);
        segment.set(LittleEndian.I32, used, value);
        used += Integer.BYTES;
        byteSize += Integer.BYTES;
        return this;
    }

    private void makeRoom(int bytes) {
        if (CHUNK_BYTES - used < bytes) {
            flush();
        }
    }

    private void flush() {
        sha256.update(chunk, 0, used);
        used = 0;
    }

    public long byteSize() {
        return byteSize;
    }

    /** Returns the 64 hexadecimal digits of everything added; call it once. */
    public String hex() {
        flush();
        return Sha256.hex(sha256);
    }
}
