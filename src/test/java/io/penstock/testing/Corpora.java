// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Token files for tests, written byte by byte and without the code under test. */
public final class Corpora {

    private Corpora() {
    }

    /** A raw {@code u16} file of seeded tokens below 50,000. */
    public static Path rawU16(Path folder, int tokens, long seed) throws IOException {
        var random = new SplittableRandom(seed);
        ByteBuffer bytes = ByteBuffer.allocate(2 * tokens).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < tokens; i++) {
            bytes.putShort((short) random.nextInt(50_000));
        }
        Path file = folder.resolve("corpus-" + tokens + "-" + seed + ".bin");
        Files.write(file, bytes.array());
        return file;
    }
}
