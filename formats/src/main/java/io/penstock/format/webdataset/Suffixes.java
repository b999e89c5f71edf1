// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The suffixes of a shard's members, numbered in order of appearance, without regard to case. */
final class Suffixes {

    /** Numbers are stored in 16 bits. */
    static final int MAX_COUNT = 1 << 16;
    /** The most bytes of all suffixes: a small compressed shard may have many long names. */
    private static final long MAX_BYTES = 16 << 20;
    private static final int CACHE_SIZE = 64;

    private final List<String> texts = new ArrayList<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private long bytes;
    /** The last suffixes by a hash of their bytes, so that only new ones are decoded. */
    private final byte[][] cachedBytes = new byte[CACHE_SIZE][];
    private final int[] cachedIds = new int[CACHE_SIZE];

    int idOf(Location file, TarReader tar, int keyBytes) {
        byte[] name = tar.name();
        int length = tar.nameBytes();
        int hash = 0;
        for (int i = keyBytes + 1; i < length; i++) {
            hash = hash * 31 + name[i];
        }
        int slot = hash & CACHE_SIZE - 1;
        byte[] cached = cachedBytes[slot];
        if (cached == null || !Arrays.equals(name, keyBytes + 1, length, cached, 0, cached.length)) {
            cachedIds[slot] = add(file, tar, keyBytes, MemberName.suffix(name, length, keyBytes));
            cachedBytes[slot] = Arrays.copyOfRange(name, keyBytes + 1, length);
        }
        return cachedIds[slot];
    }

    private int add(Location file, TarReader tar, int keyBytes, String suffix) {
        Integer id = ids.get(suffix);
        if (id == null) {
            if (texts.size() == MAX_COUNT) {
                throw new MalformedStoreException(file, tar.entryOffset(), "more than " + MAX_COUNT
                        + " different suffixes", "names whose first dot ends the key");
            }
            bytes += tar.nameBytes() - keyBytes;
            if (bytes > MAX_BYTES) {
                throw new MalformedStoreException(file, tar.entryOffset(), "different suffixes of more than "
                        + MAX_BYTES + " bytes in all", "names whose first dot ends the key");
            }
            id = texts.size();
            texts.add(suffix);
            ids.put(suffix, id);
        }
        return id;
    }

    String text(int id) {
        return texts.get(id);
    }

    List<String> texts() {
        return texts;
    }
}
