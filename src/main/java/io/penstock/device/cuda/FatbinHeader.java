// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of a fatbin, from nvcc's {@code fatbinary.h}. CUDA gets an address without a size and trusts the header,
 * so a truncated file must not reach it.
 *
 * <pre>
 *   0  u32  magic, 0xBA55ED50
 *   4  u16  version, 1
 *   6  u16  bytes of this header, 16
 *   8  u64  bytes that follow it
 * </pre>
 */
final class FatbinHeader {
    private static final int MAGIC = 0xBA55ED50;
    private static final int BYTES = 16;

    /** Returns the file if it is a complete fatbin. */
    static byte[] check(byte[] file, String name) throws IOException {
        if (file.length < BYTES) {
            throw new IOException(name + ": " + file.length + " bytes, a fatbin has at least " + BYTES);
        }
        ByteBuffer header = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        if (header.getInt(0) != MAGIC) {
            throw new IOException(name + ": at byte 0: 0x" + Integer.toHexString(header.getInt(0))
                    + ", expected 0x" + Integer.toHexString(MAGIC) + " (is this a fatbin?)");
        }
        int headerBytes = header.getShort(6);
        long bodyBytes = header.getLong(8);
        if (headerBytes != BYTES || bodyBytes < 0 || bodyBytes > file.length - BYTES) {
            throw new IOException(name + ": " + file.length + " bytes, expected " + headerBytes + " + " + bodyBytes
                    + " as its header says (is it cut off?)");
        }
        return file;
    }
}
