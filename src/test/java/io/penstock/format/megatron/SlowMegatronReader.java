// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads a Megatron store as its documentation has it, all of it onto the heap: the oracle of the writer's tests. */
final class SlowMegatronReader {

    private SlowMegatronReader() {
    }

    /** The documents, each the tokens of its sequences one after another. */
    static List<List<Long>> documents(Path prefix) throws IOException {
        ByteBuffer idx = ByteBuffer.wrap(Files.readAllBytes(Path.of(prefix + ".idx"))).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer bin = ByteBuffer.wrap(Files.readAllBytes(Path.of(prefix + ".bin"))).order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[9];
        idx.get(magic);
        if (!new String(magic, java.nio.charset.StandardCharsets.ISO_8859_1).equals("MMIDIDX\0\0")) {
            throw new IOException("magic");
        }
        if (idx.getLong() != 1) {
            throw new IOException("version");
        }
        int code = idx.get();
        int sequences = Math.toIntExact(idx.getLong());
        int indices = Math.toIntExact(idx.getLong());
        int[] lengths = new int[sequences];
        long[] pointers = new long[sequences];
        long[] documents = new long[indices];
        for (int i = 0; i < sequences; i++) {
            lengths[i] = idx.getInt();
        }
        for (int i = 0; i < sequences; i++) {
            pointers[i] = idx.getLong();
        }
        for (int i = 0; i < indices; i++) {
            documents[i] = idx.getLong();
        }
        if (idx.hasRemaining()) {
            throw new IOException("bytes behind the index");
        }
        List<List<Long>> result = new ArrayList<>();
        for (int d = 0; d + 1 < indices; d++) {
            List<Long> document = new ArrayList<>();
            for (int s = (int) documents[d]; s < documents[d + 1]; s++) {
                bin.position(Math.toIntExact(pointers[s]));
                for (int t = 0; t < lengths[s]; t++) {
                    document.add(token(bin, code));
                }
            }
            result.add(document);
        }
        return result;
    }

    private static long token(ByteBuffer bin, int code) {
        return switch (code) {
            case 1 -> bin.get() & 0xFF;
            case 2 -> bin.get();
            case 3 -> bin.getShort();
            case 4 -> bin.getInt();
            case 5 -> bin.getLong();
            case 8 -> bin.getShort() & 0xFFFF;
            default -> throw new IllegalArgumentException("code " + code);
        };
    }
}
