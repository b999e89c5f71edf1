// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A filter that was applied to chunks.
 *
 * @param id its registered number
 * @param parameters at least {@link #LEAST_PARAMETERS}; missing ones are 0
 */
record Filter(int id, String name, int[] parameters) {

    static final int DEFLATE = 1;
    static final int SHUFFLE = 2;
    static final int FLETCHER32 = 3;
    static final int LZF = 32000;
    static final int ZSTD = 32015;

    private static final int MAX_FILTERS = 32;
    private static final int LEAST_PARAMETERS = 1;
    private static final int FIRST_NAMED = 256;

    private static final Map<Integer, String> NAMES = Map.ofEntries(Map.entry(DEFLATE, "deflate"),
            Map.entry(SHUFFLE, "shuffle"), Map.entry(FLETCHER32, "fletcher32"), Map.entry(4, "szip"),
            Map.entry(5, "nbit"), Map.entry(6, "scaleoffset"), Map.entry(307, "bzip2"), Map.entry(LZF, "lzf"),
            Map.entry(32001, "blosc"), Map.entry(32004, "lz4"), Map.entry(32008, "bitshuffle"),
            Map.entry(32013, "zfp"), Map.entry(ZSTD, "zstd"), Map.entry(32017, "sz"), Map.entry(32024, "sz3"),
            Map.entry(32026, "blosc2"));

    /** Reads a filter pipeline message, in the order of application. */
    static List<Filter> read(Cursor at) {
        int version = at.versionOf(1, 2);
        int count = at.u8();
        at.skip(version == 1 ? 6 : 0);
        if (count > MAX_FILTERS) {
            throw at.malformed(count + " filters", "at most " + MAX_FILTERS);
        }
        List<Filter> filters = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int id = at.u16();
            int nameBytes = version == 1 || id >= FIRST_NAMED ? at.u16() : 0;
            at.skip(2);
            int[] parameters = new int[at.u16()];
            String ownName = at.text(version == 1 ? nameBytes + 7L & -8 : nameBytes);
            for (int p = 0; p < parameters.length; p++) {
                parameters[p] = at.i32();
            }
            at.skip(version == 1 && parameters.length % 2 != 0 ? 4 : 0);
            filters.add(new Filter(id, nameOf(id, ownName), Arrays.copyOf(parameters,
                    Math.max(LEAST_PARAMETERS, parameters.length))));
        }
        return filters;
    }

    private static String nameOf(int id, String ownName) {
        int end = ownName.indexOf(0);
        return NAMES.getOrDefault(id, "filter " + id
                + (end == 0 || ownName.isEmpty() ? "" : " (" + (end < 0 ? ownName : ownName.substring(0, end)) + ")"));
    }

    boolean isRead() {
        return id == DEFLATE || id == SHUFFLE || id == FLETCHER32 || id == LZF || id == ZSTD;
    }
}
