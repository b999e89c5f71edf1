// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.index.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code index.json}: the shards and their columns, in the order of a sample's values ({@code
 * streaming/base/format/mds/writer.py}, version 2).
 */
record MdsIndex(Location file, List<MdsShard> shards, List<String> names, List<MdsEncoding> encodings) {

    private static final long VERSION = 2;
    private static final long MAX_INDEX_BYTES = 1L << 28;
    /** Offsets in a shard are {@code u32}. */
    private static final long MAX_SHARD_BYTES = (1L << 32) - 1;
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
            Columns columns = null;
            List<MdsEncoding> encodings = List.of();
            for (JsonFields shard : root.objects("shards")) {
                shard.expect("version", VERSION);
                shard.expect("format", "mds");
                Columns own = new Columns(shard.texts("column_names"), shard.texts("column_encodings"),
                        shard.array("column_sizes"));
                if (columns == null) {
                    columns = own;
                    encodings = encodings(own);
                } else if (!columns.equals(own)) {
                    throw malformed("shard " + shards.size() + " has other columns", "those of shard 0");
                }
                shards.add(shard(shard, "shard " + shards.size()));
            }
            if (columns == null) {
                throw malformed("no shards", "one at least, which says what columns there are");
            }
            return new MdsIndex(file, List.copyOf(shards), List.copyOf(columns.names), encodings);
        }

        private List<MdsEncoding> encodings(Columns columns) throws MalformedStoreException {
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
                    long told = size == null || size.equals(0L) ? -1
                            : size instanceof Long number && number > 0 ? number : Long.MAX_VALUE;
                    if (told != fixed) {
                        throw malformed(what + " of " + (told < 0 ? "variable size" : Json.shown(size) + " bytes")
                                + " as " + encoding.text(), fixed < 0 ? "a variable size" : fixed + " bytes");
                    }
                    encodings.add(encoding);
                } catch (IllegalArgumentException e) {
                    throw malformed(what + ": " + e.getMessage(), "one of MDS");
                }
            }
            return List.copyOf(encodings);
        }

        private MdsShard shard(JsonFields shard, String what) throws MalformedStoreException {
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
            return new MdsShard(samples, raw, packed, compression,
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
