// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Small token stores of Megatron's format: a token mostly follows from the one before it. */
final class Corpus {

    private static final byte[] MAGIC = "MMIDIDX\0\0".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte U16 = 8;
    /** {@code i32}; a token that is not trained on is its complement. */
    private static final byte MASKED = 9;
    private static final int TOKENS = 60;

    private Corpus() {
    }

    static Path write(Path folder, int documents) throws IOException {
        return write(folder.resolve("corpus"), documents, U16);
    }

    /** Conversations of a question, of tokens of their own, and an answer, which follows from the question's last. */
    static Path writeConversations(Path folder, int conversations) throws IOException {
        return write(folder.resolve("conversations"), conversations, MASKED);
    }

    private static Path write(Path store, int documents, byte code) throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        int tokenBytes = code == U16 ? Short.BYTES : Integer.BYTES;
        int[] lengths = random.ints(documents, 5, 30).toArray();
        ByteBuffer bin = ByteBuffer.allocate(documents * 30 * tokenBytes).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer idx = ByteBuffer.allocate(MAGIC.length + 8 + 1 + 16 + documents * 12 + (documents + 1) * 8)
                .order(ByteOrder.LITTLE_ENDIAN);
        idx.put(MAGIC).putLong(1).put(code).putLong(documents).putLong(documents + 1);
        for (int length : lengths) {
            idx.putInt(length);
        }
        for (int length : lengths) {
            idx.putLong(bin.position());
            int token = random.nextInt(TOKENS);
            for (int t = 0; t < length; t++) {
                if (code == U16) {
                    bin.putShort((short) (3 * token));
                    token = random.nextInt(10) == 0 ? random.nextInt(TOKENS) : next(token);
                } else {
                    boolean isAnswer = t >= length / 2;
                    bin.putInt(isAnswer ? 3 * token : -1 - 3 * token);
                    token = isAnswer || t + 1 == length / 2 ? next(token) : random.nextInt(TOKENS);
                }
            }
        }
        for (int d = 0; d <= documents; d++) {
            idx.putLong(d);
        }
        Files.write(Path.of(store + ".bin"), Arrays.copyOf(bin.array(), bin.position()));
        Files.write(Path.of(store + ".idx"), idx.array());
        return store;
    }

    private static int next(int token) {
        return (token * 7 + 1) % TOKENS;
    }
}
