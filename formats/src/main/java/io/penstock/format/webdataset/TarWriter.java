// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.publish.SpoolFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes a tar in the POSIX ustar format, with pax headers where ustar does not suffice: for names over 100 bytes or
 * beyond ASCII, and data of 8 GiB or more. Equal names and data give equal bytes: owner, group and times are zero.
 */
final class TarWriter implements AutoCloseable {

    private static final int NAME_BYTES = 100;
    private static final long MAX_OCTAL_SIZE = (1L << 33) - 1;
    private static final String PAX_NAME = "PaxHeaders/member";

    private final SpoolFile file;
    private final byte[] header = new byte[TarReader.BLOCK_BYTES];
    private final MemorySegment zeros = MemorySegment.ofArray(new byte[TarReader.BLOCK_BYTES]);

    TarWriter(SpoolFile file) {
        this.file = file;
    }

    void write(String name, MemorySegment data) throws IOException {
        byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
        boolean plainName = nameBytes.length <= NAME_BYTES && name.chars().allMatch(c -> c < 0x80);
        boolean plainSize = data.byteSize() <= MAX_OCTAL_SIZE;
        if (!plainName || !plainSize) {
            ByteArrayOutputStream records = new ByteArrayOutputStream();
            if (!plainName) {
                record(records, "path", nameBytes);
            }
            if (!plainSize) {
                record(records, "size", Long.toString(data.byteSize()).getBytes(StandardCharsets.US_ASCII));
            }
            byte[] pax = records.toByteArray();
            header(PAX_NAME.getBytes(StandardCharsets.US_ASCII), pax.length, 'x');
            padded(MemorySegment.ofArray(pax));
        }
        // Readers without pax support see as much of name and size as fits.
        header(Arrays.copyOf(nameBytes, Math.min(nameBytes.length, NAME_BYTES)),
                Math.min(data.byteSize(), MAX_OCTAL_SIZE), '0');
        padded(data);
    }

    /** Ends the tar with two blocks of zeros, flushes and closes the file. */
    void end() throws IOException {
        file.put(zeros, 0, TarReader.BLOCK_BYTES);
        file.put(zeros, 0, TarReader.BLOCK_BYTES);
        file.force();
        file.close();
    }

    long byteSize() {
        return file.byteSize();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** {@code "<length> <key>=<value>\n"}, where the length counts its own digits. */
    private static void record(ByteArrayOutputStream records, String key, byte[] value) {
        int rest = key.length() + value.length + 3;
        int length = rest + 1;
        while (rest + Integer.toString(length).length() != length) {
            length = rest + Integer.toString(length).length();
        }
        records.writeBytes((length + " " + key + "=").getBytes(StandardCharsets.US_ASCII));
        records.writeBytes(value);
        records.write('\n');
    }

    private void padded(MemorySegment data) throws IOException {
        file.put(data, 0, data.byteSize());
        file.put(zeros, 0, TarReader.padded(data.byteSize()) - data.byteSize());
    }

    private void header(byte[] name, long size, char type) throws IOException {
        Arrays.fill(header, (byte) 0);
        System.arraycopy(name, 0, header, 0, name.length);
        octal(100, 8, 0644);
        octal(108, 8, 0);
        octal(116, 8, 0);
        octal(124, 12, size);
        octal(136, 12, 0);
        Arrays.fill(header, 148, 156, (byte) ' ');
        header[156] = (byte) type;
        System.arraycopy("ustar\00000".getBytes(StandardCharsets.US_ASCII), 0, header, 257, 8);
        octal(329, 8, 0);
        octal(337, 8, 0);
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xFF;
        }
        octal(148, 7, sum);
        file.put(MemorySegment.ofArray(header), 0, header.length);
    }

    private void octal(int at, int length, long value) {
        long rest = value;
        for (int i = at + length - 2; i >= at; i--) {
            header[i] = (byte) ('0' + (rest & 7));
            rest >>>= 3;
        }
        header[at + length - 1] = 0;
    }
}
