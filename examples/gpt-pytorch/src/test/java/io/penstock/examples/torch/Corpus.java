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

/** A small token store of Megatron's format: a token mostly follows from the one before it. */
final class Corpus {

    private static final byte[] MAGIC = "MMIDIDX\0\0".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte U16 = 8;
    private static final int TOKENS = 60;

    private Corpus() {
    }

    static Path write(Path folder, int documents) throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        int[] lengths = random.ints(documents, 5, 30).toArray();
        ByteBuffer bin = ByteBuffer.allocate(documents * 30 * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer idx = ByteBuffer.allocate(MAGIC.length + 8 + 1 + 16 + documents * 12 + (documents + 1) * 8)
                .order(ByteOrder.LITTLE_ENDIAN);
        idx.put(MAGIC).putLong(1).put(U16).putLong(documents).putLong(documents + 1);
        for (int length : lengths) {
            idx.putInt(length);
        }
        for (int length : lengths) {
            idx.putLong(bin.position());
            int token = random.nextInt(TOKENS);
            for (int t = 0; t < length; t++) {
                bin.putShort((short) (3 * token));
                token = random.nextInt(10) == 0 ? random.nextInt(TOKENS) : (token * 7 + 1) % TOKENS;
            }
        }
        for (int d = 0; d <= documents; d++) {
            idx.putLong(d);
        }
        Files.write(folder.resolve("corpus.bin"), Arrays.copyOf(bin.array(), bin.position()));
        Files.write(folder.resolve("corpus.idx"), idx.array());
        return folder.resolve("corpus");
    }
}
