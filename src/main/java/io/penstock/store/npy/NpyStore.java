package io.penstock.store.npy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An array in numpy's {@code .npy}. */
public final class NpyStore {

    private static final byte[] MAGIC = "\u0093NUMPY".getBytes(StandardCharsets.ISO_8859_1);

    private NpyStore() {
    }

    /**
     * Whether a file is a {@code .npy}.
     *
     * @param head its first bytes
     * @return true if they are the format's magic
     */
    public static boolean isNpy(byte[] head) {
        return head.length >= MAGIC.length && Arrays.equals(head, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
    }
}
