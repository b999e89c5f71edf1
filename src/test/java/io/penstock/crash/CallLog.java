// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What the shim has logged: the calls that changed or synced something, in order. */
final class CallLog {

    /**
     * A call.
     *
     * @param operation the letter of what was done, as in the shim
     * @param descriptor the file's descriptor, or -1
     * @param value an offset, size, descriptor or flags
     * @param path a path below the folder; the empty one is the folder
     * @param data what was written, or the bytes of a second path
     */
    record Call(char operation, int descriptor, long value, String path, byte[] data) {

        String secondPath() {
            return new String(data, StandardCharsets.UTF_8);
        }
    }

    private static final int RECORD_BYTES = 4 * Integer.BYTES + 2 * Long.BYTES;

    private CallLog() {
    }

    static List<Call> read(Path file) throws IOException {
        ByteBuffer log = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
        List<Call> calls = new ArrayList<>();
        while (log.remaining() >= RECORD_BYTES) {
            char operation = (char) log.getInt();
            int descriptor = log.getInt();
            log.getLong();
            long value = log.getLong();
            byte[] path = new byte[log.getInt()];
            byte[] data = new byte[log.getInt()];
            log.get(path).get(data);
            calls.add(new Call(operation, descriptor, value, new String(path, StandardCharsets.UTF_8), data));
        }
        if (log.hasRemaining()) {
            throw new IOException(file + ": " + log.remaining() + " bytes behind the last record");
        }
        return calls;
    }
}
