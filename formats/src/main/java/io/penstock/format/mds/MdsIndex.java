// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code index.json}: the shards, and the columns of all of them by name, in the order in which they are
 * first met ({@code streaming/base/format/mds/writer.py}, version 2).
 */
record MdsIndex(Location file, List<MdsShard> shards, List<String> names, List<MdsEncoding> encodings) {

    static final long VERSION = 2;
    private static final long MAX_INDEX_BYTES = 1L << 28;
    /** Offsets in a shard are {@code u32}. */
    static final long MAX_SHARD_BYTES = (1L << 32) - 1;
    private static final int MAX_COLUMNS = 1 << 16;

    static MdsIndex read(Location file) throws IOException {
        return JsonFile.read(file, "an MDS index", MAX_INDEX_BYTES, fields -> new Reader(file).read(fields));
    }

    Column column(int position) {
        return encodings.get(position).column(names.get(position));
    }

    private record Columns(List<String> names, List<String> texts, List<@Nullable Object> sizes) {
    }

    private record Reader(Location file) {

        MdsIndex read(JsonFields root) throws IOException {
            if (!root.has("shards") && root.has("chunks")) {
                throw root.wrong("shards", "an index of 'chunks' (of another streaming library)",
                        "an index of MosaicML's shards");
            }
            root.expect("version", VERSION);
            List<MdsShard> shards = new ArrayList<>();
            Columns before = null;
            List<Integer> positions = List.of();
            Map<String, MdsEncoding> columns = new LinkedHashMap<>();
            for (JsonFields shard : root.objects("shards")) {
                shard.expect("version", VERSION);
                shard.expect("format", "mds");
                Columns own = new Columns(shard.texts("column_names"), shard.texts("column_encodings"),
                        shard.array("column_sizes"));
                if (!own.equals(before)) {
                    positions = unite(columns, own, shards.size());
                    before = own;
                }
                shards.add(shard(shard, positions, "shard " + shards.size()));
            }
            if (before == null) {
                throw malformed("no shards", "one at least, which says what columns there are");
            }
            return new MdsIndex(file, List.copyOf(shards), List.copyOf(columns.keySet()),
                    List.copyOf(columns.values()));
        }

        /** Adds the columns of a shard to those before; returns their positions among them. */
        private List<Integer> unite(Map<String, MdsEncoding> columns, Columns own, int shard) {
            List<MdsEncoding> encodings = encodings(own);
            boolean isFirst = columns.isEmpty();
            if (!isFirst && own.names.stream().noneMatch(columns::containsKey)) {
                throw malformed("shard " + shard + " with the columns " + own.names, "at least one of "
                        + columns.keySet() + ", as the shards before have");
            }
            List<Integer> positions = new ArrayList<>();
            for (int i = 0; i < encodings.size(); i++) {
                String name = own.names.get(i);
                MdsEncoding known = columns.putIfAbsent(name, encodings.get(i));
                if (known != null && !known.text().equals(encodings.get(i).text())) {
                    throw malformed("shard " + shard + " with column '" + name + "' of " + encodings.get(i).text(),
                            known.text() + ", as the shards before have");
                }
                positions.add(List.copyOf(columns.keySet()).indexOf(name));
            }
            return List.copyOf(positions);
        }

        private List<MdsEncoding> encodings(Columns columns) {
            List<String> names = columns.names;
            if (names.isEmpty() || names.size() > MAX_COLUMNS || new HashSet<>(names).size() != names.size()) {
                throw malformed(names.size() + " columns", "1 to " + MAX_COLUMNS + ", of different names");
            }
            List<String> texts = columns.texts;
            List<@Nullable Object> sizes = columns.sizes;
            if (texts.size() != names.size() || sizes.size() != names.size()) {
                throw malformed(names.size() + " column names, " + texts.size() + " encodings, " + sizes.size()
                        + " sizes", "one of each a column");
            }
            List<MdsEncoding> encodings = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                String what = "column '" + names.get(i) + "'";
                try {
                    MdsEncoding encoding = MdsEncoding.of(texts.get(i));
                    long fixed = encoding.fixedBytes(encoding.column(names.get(i)).spec());
                    // The library treats 0 as a variable size, like null.
                    Object size = sizes.get(i);
                    long stated = size == null || size.equals(0L) ? -1
                            : size instanceof Long number && number > 0 ? number : Long.MAX_VALUE;
                    if (stated != fixed) {
                        throw malformed(what + " of " + (stated < 0 ? "variable size" : Json.shown(size) + " bytes")
                                + " as " + encoding.text(), fixed < 0 ? "a variable size" : fixed + " bytes");
                    }
                    encodings.add(encoding);
                } catch (IllegalArgumentException e) {
                    throw malformed(what + ": " + e.getMessage(), "one of MDS");
                }
            }
            return List.copyOf(encodings);
        }

        private MdsShard shard(JsonFields shard, List<Integer> columns, String what) {
            long samples = shard.whole("samples", 0, MAX_SHARD_BYTES);
            MdsShard.Part raw = part(shard.object("raw_data"));
            JsonFields zip = shard.objectIfThere("zip_data");
            MdsShard.Part packed = zip == null ? null : part(zip);
            if (raw.bytes() / 4 < samples + 2) {
                throw malformed(what + " of " + raw.bytes() + " bytes with " + samples + " samples",
                        "an offset of 4 bytes a sample");
            }
            String compression = shard.textIfThere("compression");
            if (packed != null && compression == null) {
                throw malformed(what + " with a compressed file and no compression", "both or none");
            }
            return new MdsShard(columns, samples, raw, packed, compression,
                    shard.has("hashes") ? List.copyOf(shard.texts("hashes")) : List.of());
        }

        private MdsShard.Part part(JsonFields part) {
            String name = part.text("basename");
            JsonFields hashes = part.objectIfThere("hashes");
            return new MdsShard.Part(name, file.parent().below(name), part.whole("bytes", 0, MAX_SHARD_BYTES),
                    hashes == null ? Map.of() : Collections.unmodifiableMap(hashes.texts()));
        }

        private MalformedStoreException malformed(String found, String expected) {
            return new MalformedStoreException(file, found, expected);
        }
    }
}
