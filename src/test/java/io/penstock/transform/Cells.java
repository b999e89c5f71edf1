// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.memory.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Elements of a dtype in a byte array, as the definitions of dtypes have them: little-endian, packed. */
public final class Cells {
    /** What outputs hold before, and must still hold behind their end. */
    static final byte POISON = (byte) 0xA5;
    static final int GUARD_BYTES = 64;

    private final DType dtype;
    private final ByteBuffer bytes;

    private Cells(DType dtype, byte[] bytes) {
        this.dtype = dtype;
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    public static Cells inputs(DType dtype, long count) {
        return new Cells(dtype, new byte[Math.toIntExact(count * dtype.byteSize())]);
    }

    public static Cells outputs(DType dtype, long count) {
        byte[] bytes = new byte[Math.toIntExact(count * dtype.byteSize()) + GUARD_BYTES];
        Arrays.fill(bytes, POISON);
        return new Cells(dtype, bytes);
    }

    public static Cells random(DType dtype, long count, RandomGenerator random) {
        Cells cells = inputs(dtype, count);
        random.nextBytes(cells.bytes.array());
        return cells;
    }

    public byte[] bytes() {
        return bytes.array();
    }

    public long bits(long i) {
        int at = Math.toIntExact(i * dtype.byteSize());
        return switch (dtype.byteSize()) {
            case 1 -> bytes.get(at) & 0xFFL;
            case 2 -> bytes.getShort(at) & 0xFFFFL;
            case 4 -> bytes.getInt(at) & 0xFFFF_FFFFL;
            default -> bytes.getLong(at);
        };
    }

    public Cells set(long i, long bits) {
        int at = Math.toIntExact(i * dtype.byteSize());
        switch (dtype.byteSize()) {
            case 1 -> bytes.put(at, (byte) bits);
            case 2 -> bytes.putShort(at, (short) bits);
            case 4 -> bytes.putInt(at, (int) bits);
            default -> bytes.putLong(at, bits);
        }
        return this;
    }

    /** An integer element with its sign; u64 as a long. */
    public long integer(long i) {
        int unused = 64 - 8 * dtype.byteSize();
        return dtype.isUnsigned() || dtype == DType.BOOL ? bits(i) : bits(i) << unused >> unused;
    }
}
