// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Several files as one input: their bytes, with a separator between them that no file of a format has. */
final class Parts {

    /** Eight bytes between one file and the next. */
    static final long SEPARATOR = 0xF0A9_5E9A_7A70_12FFL;

    private Parts() {
    }

    /** The input of which {@link #split} makes these parts. */
    static byte[] join(List<byte[]> parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < parts.size(); i++) {
            for (int b = 0; b < Long.BYTES && i > 0; b++) {
                joined.write((int) (SEPARATOR >>> 8 * (Long.BYTES - 1 - b)));
            }
            joined.writeBytes(parts.get(i));
        }
        return joined.toByteArray();
    }

    /** At least one part, at most {@code limit}: what is behind the last separator that counts is the last part. */
    static List<byte[]> split(byte[] input, int limit) {
        List<byte[]> parts = new ArrayList<>();
        int start = 0;
        long last8 = 0;
        for (int i = 0; i < input.length && parts.size() < limit - 1; i++) {
            last8 = last8 << 8 | input[i] & 0xFF;
            if (last8 == SEPARATOR && i + 1 - start >= Long.BYTES) {
                parts.add(Arrays.copyOfRange(input, start, i + 1 - Long.BYTES));
                start = i + 1;
            }
        }
        parts.add(Arrays.copyOfRange(input, start, input.length));
        return parts;
    }
}
