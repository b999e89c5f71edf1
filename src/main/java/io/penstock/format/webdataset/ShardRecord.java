package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What shards a dataset has: a file {@code PATTERN.penstock-shards} beside them, for example
 * {@code train-%06d.tar.penstock-shards}. Without it, nobody could tell a dataset that is whole from one of which some
 * shards were not copied, or were written by another run:
 *
 * <pre>{@code
 * {"penstock_shards": 1, "pattern": "train-%06d.tar", "shards": [
 *   {"name": "train-000000.tar", "bytes": 10240, "samples": 20, "content": "163fe17225a2e475c8a56a2d834f55d4"}]}
 * }</pre>
 *
 * <p>{@code content} is the sample of the shard's content that its index has too ({@link ShardState}), in hexadecimal
 * digits.
 *
 * @param file the record, where it was read
 * @param names what the shards are called
 * @param shards the shards, by their number
 */
record ShardRecord(Location file, ShardNames names, List<Entry> shards) {

    static final String ENDING = ".penstock-shards";

    private static final String VERSION_KEY = "penstock_shards";
    private static final long VERSION = 1;
    private static final long MAX_BYTES = 256L << 20;
    private static final int NAMED = 3;

    /** One shard: its name, its size, its samples, and a sample of its content in hexadecimal digits. */
    record Entry(String name, long bytes, long samples, String content) {

        static Entry of(String name, ShardIndex index) {
            return new Entry(name, index.fileBytes(), index.samples(),
                    HexFormat.of().formatHex(index.content().toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    /** What the record of shards with a pattern is called. */
    static String nameFor(String pattern) {
        return pattern + ENDING;
    }

    static boolean isName(String name) {
        return name.length() > ENDING.length() && name.endsWith(ENDING);
    }

    byte[] toBytes() {
        List<Object> list = new ArrayList<>();
        for (Entry shard : shards) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("name", shard.name);
            fields.put("bytes", shard.bytes);
            fields.put("samples", shard.samples);
            fields.put("content", shard.content);
            list.add(fields);
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(VERSION_KEY, VERSION);
        fields.put("pattern", names.pattern());
        fields.put("shards", list);
        return (Json.write(fields) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads a record.
     *
     * @throws MalformedStoreException if it is none of this version, or says what cannot be
     */
    static ShardRecord read(Location file) throws IOException {
        long size = file.byteSize();
        if (size > MAX_BYTES) {
            throw new MalformedStoreException(file, size + " bytes", "a record of shards of at most " + MAX_BYTES);
        }
        try {
            Map<String, Object> fields = Json.object(Json.parse(file.readAllBytes()));
            if (!Long.valueOf(VERSION).equals(fields.get(VERSION_KEY))) {
                throw new MalformedStoreException(file, VERSION_KEY + " " + fields.get(VERSION_KEY),
                        Long.toString(VERSION));
            }
            String name = file.name();
            ShardNames names = ShardNames.of(name.substring(0, name.length() - ENDING.length()));
            if (!names.pattern().equals(fields.get("pattern")) || !names.isNumbered()) {
                throw new MalformedStoreException(file, "pattern " + fields.get("pattern"),
                        "one with a place for a number, after which the record is called");
            }
            if (!(fields.get("shards") instanceof List<?> list) || list.isEmpty() || fields.size() != 3) {
                throw new MalformedStoreException(file, "fields " + fields.keySet(),
                        VERSION_KEY + ", pattern and shards, which are one or more");
            }
            List<Entry> shards = new ArrayList<>();
            for (Object shard : list) {
                shards.add(entry(file, names, shards.size(), shard));
            }
            return new ShardRecord(file, names, List.copyOf(shards));
        } catch (JsonException e) {
            throw new MalformedStoreException(file, Math.max(e.offset(), 0), e.found(), e.expected());
        }
    }

    private static Entry entry(Location file, ShardNames names, int position, Object value)
            throws MalformedStoreException {
        if (value instanceof Map<?, ?> fields && fields.size() == 4 && fields.get("name") instanceof String name
                && name.equals(names.name(position)) && fields.get("bytes") instanceof Long bytes && bytes >= 0
                && fields.get("samples") instanceof Long samples && samples >= 0
                && fields.get("content") instanceof String content && content.matches("[0-9a-f]{32}")) {
            return new Entry(name, bytes, samples, content);
        }
        throw new MalformedStoreException(file, "shard " + position + ": " + value, "name '" + names.name(position)
                + "', bytes and samples of 0 or more, content of 32 hexadecimal digits, and nothing else");
    }

    /** What it means that a folder lacks shards. */
    MalformedStoreException missing(Location folder, List<String> missing) {
        String found = "no " + String.join(", ", missing.subList(0, Math.min(NAMED, missing.size())))
                + (missing.size() > NAMED ? " and " + (missing.size() - NAMED) + " shards more" : "");
        return new MalformedStoreException(folder, found, "the " + shards.size() + " shards that " + file.name()
                + " names (a list of shards reads those that are there)");
    }

    /** What it means that a shard is another one than the record says. */
    MalformedStoreException other(Location shard, String found, String expected) {
        return new MalformedStoreException(shard, found, expected + ", as " + file.name()
                + " says (a shard of another dataset? if it was changed on purpose, remove that file)");
    }
}
