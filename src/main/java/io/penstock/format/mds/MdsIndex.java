package io.penstock.format.mds;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What {@code index.json} says: the shards, and the columns that all of them have
 * ({@code streaming/base/format/mds/writer.py}, version 2).
 *
 * @param file the index
 * @param shards in order
 * @param names of the columns, in the order in which samples have them
 * @param encodings of the columns
 */
record MdsIndex(Location file, List<MdsShard> shards, List<String> names, List<MdsEncoding> encodings) {

    private static final long VERSION = 2;
    private static final long MAX_INDEX_BYTES = 1L << 28;
    /** Offsets in a shard are {@code u32}. */
    private static final long MAX_SHARD_BYTES = (1L << 32) - 1;
    private static final int MAX_COLUMNS = 1 << 16;

    static MdsIndex read(Location file) throws IOException {
        long bytes = file.byteSize();
        if (bytes > MAX_INDEX_BYTES) {
            throw new MalformedStoreException(file, bytes + " bytes of JSON", "at most " + MAX_INDEX_BYTES);
        }
        try {
            return new Reader(file).read(file.readAllBytes());
        } catch (JsonException e) {
            throw e.offset() < 0 ? new MalformedStoreException(file, e.found(), e.expected())
                    : new MalformedStoreException(file, e.offset(), e.found(), e.expected());
        }
    }

    Column column(int position) {
        return encodings.get(position).column(names.get(position));
    }

    /** Reads one index. */
    private static final class Reader {

        private final Location file;
        private final Location folder;

        Reader(Location file) {
            this.file = file;
            this.folder = file.parent();
        }

        MdsIndex read(byte[] json) throws IOException {
            Map<String, Object> root = Json.object(Json.parse(json));
            if (!root.containsKey("shards")) {
                throw malformed(root.containsKey("chunks") ? "an index of 'chunks' (of another streaming library)"
                        : "no 'shards'", "an index of MosaicML's shards");
            }
            checkVersion(root, "the index");
            List<MdsShard> shards = new ArrayList<>();
            List<String> names = null;
            List<MdsEncoding> encodings = null;
            List<Object> texts = null;
            List<Object> sizes = null;
            for (Object each : Json.array(root.get("shards"))) {
                Map<String, Object> shard = Json.object(each);
                String what = "shard " + shards.size();
                checkVersion(shard, what);
                if (!"mds".equals(shard.get("format"))) {
                    throw malformed(what + " has format " + shown(shard.get("format")), "mds");
                }
                if (names == null) {
                    names = names(shard);
                    texts = Json.array(shard.get("column_encodings"));
                    sizes = Json.array(shard.get("column_sizes"));
                    encodings = encodings(names, texts, sizes);
                } else if (!names.equals(shard.get("column_names")) || !texts.equals(shard.get("column_encodings"))
                        || !sizes.equals(shard.get("column_sizes"))) {
                    throw malformed(what + " has other columns", "those of shard 0");
                }
                shards.add(shard(shard, what));
            }
            if (names == null) {
                throw malformed("no shards", "one at least, which says what columns there are");
            }
            return new MdsIndex(file, Collections.unmodifiableList(shards), List.copyOf(names),
                    List.copyOf(encodings));
        }

        private void checkVersion(Map<String, Object> object, String what) throws MalformedStoreException {
            if (!Objects.equals(object.get("version"), VERSION)) {
                throw malformed(what + " has version " + shown(object.get("version")), String.valueOf(VERSION));
            }
        }

        private List<String> names(Map<String, Object> shard) throws MalformedStoreException {
            List<String> names = new ArrayList<>();
            for (Object name : Json.array(shard.get("column_names"))) {
                names.add(text(name, "a column's name"));
            }
            if (names.isEmpty() || names.size() > MAX_COLUMNS || new HashSet<>(names).size() != names.size()) {
                throw malformed(names.size() + " columns", "1 to " + MAX_COLUMNS + ", of different names");
            }
            return names;
        }

        private List<MdsEncoding> encodings(List<String> names, List<Object> texts, List<Object> sizes)
                throws MalformedStoreException {
            if (texts.size() != names.size() || sizes.size() != names.size()) {
                throw malformed(names.size() + " column names, " + texts.size() + " encodings, " + sizes.size()
                        + " sizes", "one of each a column");
            }
            List<MdsEncoding> encodings = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                String what = "column '" + names.get(i) + "'";
                try {
                    MdsEncoding encoding = MdsEncoding.of(text(texts.get(i), "the encoding of " + what));
                    long fixed = encoding.fixedBytes(encoding.column(names.get(i)).spec());
                    // The library takes 0 for a variable size, as it takes null.
                    long told = sizes.get(i) == null || Objects.equals(sizes.get(i), 0L) ? -1
                            : number(sizes.get(i), "the size of " + what, MAX_SHARD_BYTES);
                    if (told != fixed) {
                        throw malformed(what + " of " + (told < 0 ? "variable size" : told + " bytes") + " as "
                                + encoding.text(), fixed < 0 ? "a variable size" : fixed + " bytes");
                    }
                    encodings.add(encoding);
                } catch (IllegalArgumentException e) {
                    throw malformed(what + ": " + e.getMessage(), "one of MDS");
                }
            }
            return encodings;
        }

        private MdsShard shard(Map<String, Object> shard, String what) throws MalformedStoreException {
            long samples = number(shard.get("samples"), "the samples of " + what, MAX_SHARD_BYTES);
            MdsShard.Part raw = part(shard.get("raw_data"), what);
            MdsShard.Part zip = shard.get("zip_data") == null ? null : part(shard.get("zip_data"), what);
            if (raw.bytes() / 4 < samples + 2) {
                throw malformed(what + " of " + raw.bytes() + " bytes with " + samples + " samples",
                        "an offset of 4 bytes a sample");
            }
            String compression = shard.get("compression") == null ? null
                    : text(shard.get("compression"), "the compression of " + what);
            if (zip != null && compression == null) {
                throw malformed(what + " with a compressed file and no compression", "both or none");
            }
            List<String> hashes = new ArrayList<>();
            for (Object hash : Json.array(shard.getOrDefault("hashes", List.of()))) {
                hashes.add(text(hash, "a hash of " + what));
            }
            return new MdsShard(samples, raw, zip, compression, List.copyOf(hashes));
        }

        private MdsShard.Part part(Object value, String what) throws MalformedStoreException {
            Map<String, Object> part = Json.object(value);
            String name = text(part.get("basename"), "a file name of " + what);
            Map<String, String> hashes = new LinkedHashMap<>();
            if (part.get("hashes") != null) {
                for (Map.Entry<String, Object> hash : Json.object(part.get("hashes")).entrySet()) {
                    hashes.put(hash.getKey(), text(hash.getValue(), "a hash of " + name));
                }
            }
            return new MdsShard.Part(name, inFolder(name),
                    number(part.get("bytes"), "the size of " + name, MAX_SHARD_BYTES),
                    Collections.unmodifiableMap(hashes));
        }

        /** A file in the dataset's folder or below it: names of a merged index have folders in them. */
        private Location inFolder(String name) throws MalformedStoreException {
            return folder.inside(name).orElseThrow(() ->
                    malformed("the file name " + shown(name), "one within the dataset's folder"));
        }

        private String text(Object value, String what) throws MalformedStoreException {
            if (value instanceof String text) {
                return text;
            }
            throw malformed(what + " is " + shown(value), "a string");
        }

        private long number(Object value, String what, long max) throws MalformedStoreException {
            if (value instanceof Long number && number >= 0 && number <= max) {
                return number;
            }
            throw malformed(what + " is " + shown(value), "0 to " + max);
        }

        private static String shown(Object value) {
            String text = value instanceof Map<?, ?> ? "an object" : value instanceof List<?> ? "a list"
                    : value instanceof String string ? "'" + string + "'" : String.valueOf(value);
            return text.length() <= 200 ? text : text.substring(0, 200) + "…";
        }

        private MalformedStoreException malformed(String found, String expected) {
            return new MalformedStoreException(file, found, expected);
        }
    }
}
