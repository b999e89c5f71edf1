// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import java.util.zip.CRC32C;

/** The checksum that an index of a table has among its own bytes. */
public final class IndexChecksum {

    private IndexChecksum() {
    }

    /** Returns the CRC-32C of all bytes but the four at which it stands. */
    public static int of(byte[] bytes, int at) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, at);
        crc.update(bytes, at + Integer.BYTES, bytes.length - at - Integer.BYTES);
        return (int) crc.getValue();
    }
}
