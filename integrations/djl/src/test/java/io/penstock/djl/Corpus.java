// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes token stores as Megatron-LM does. */
final class Corpus {

    private static final byte[] MAGIC = "MMIDIDX\0\0".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte U16 = 8;

    private Corpus() {
    }

    /**
     * Documents of the given lengths. Token {@code t} of document {@code d} is {@code 100 * d + t}.
     *
     * @return the store's path
     */
    static Path write(Path folder, int... lengths) throws IOException {
        int tokens = 0;
        for (int length : lengths) {
            tokens += length;
        }
        ByteBuffer bin = ByteBuffer.allocate(tokens * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer idx = ByteBuffer.allocate(MAGIC.length + 8 + 1 + 16 + lengths.length * 12 + (lengths.length + 1) * 8)
                .order(ByteOrder.LITTLE_ENDIAN);
        idx.put(MAGIC).putLong(1).put(U16).putLong(lengths.length).putLong(lengths.length + 1);
        for (int length : lengths) {
            idx.putInt(length);
        }
        for (int d = 0; d < lengths.length; d++) {
            idx.putLong(bin.position());
            for (int t = 0; t < lengths[d]; t++) {
                bin.putShort((short) (100 * d + t));
            }
        }
        for (int d = 0; d <= lengths.length; d++) {
            idx.putLong(d);
        }
        Files.write(folder.resolve("corpus.bin"), bin.array());
        Files.write(folder.resolve("corpus.idx"), idx.array());
        return folder.resolve("corpus");
    }
}
