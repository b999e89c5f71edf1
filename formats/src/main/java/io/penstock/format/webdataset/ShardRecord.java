// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The list of a dataset's shards, in the file {@code PATTERN.penstock-shards} beside them, for example
 * {@code train-%06d.tar.penstock-shards}. It shows whether shards are missing, or were written by another run:
 *
 * <pre>{@code
 * {"penstock_shards": 1, "pattern": "train-%06d.tar", "shards": [
 *   {"name": "train-000000.tar", "bytes": 10240, "samples": 20, "content": "163fe17225a2e475c8a56a2d834f55d4"}]}
 * }</pre>
 *
 * <p>{@code content} is the sample of the content that the shard's index has too ({@link ShardState}).
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

        /**
         * The entry of a shard.
         *
         * @param name the name that it must have
         * @throws IllegalArgumentException if it is no such entry; says why
         */
        static Entry parse(String name, String json) {
            return entry(name, JsonFields.parse(json, "a description of a shard"));
        }

        String toJson() {
            return Json.write(fields());
        }

        private Map<String, @Nullable Object> fields() {
            return Json.members("name", name, "bytes", bytes, "samples", samples, "content", content);
        }
    }

    static String nameFor(String pattern) {
        return pattern + ENDING;
    }

    static boolean isName(String name) {
        return name.length() > ENDING.length() && name.endsWith(ENDING);
    }

    static byte[] toBytes(ShardNames names, List<Entry> shards) {
        Map<String, @Nullable Object> fields = Json.members(VERSION_KEY, VERSION, "pattern", names.pattern(),
                "shards", shards.stream().map(Entry::fields).toList());
        return (Json.write(fields) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    static ShardRecord read(Location file) throws IOException {
        return JsonFile.read(file, "a record of shards", MAX_BYTES, fields -> {
            fields.expect(VERSION_KEY, VERSION);
            String name = file.name();
            ShardNames names = ShardNames.of(name.substring(0, name.length() - ENDING.length()));
            fields.expect("pattern", names.pattern());
            List<Entry> shards = new ArrayList<>();
            for (JsonFields shard : fields.objects("shards")) {
                shards.add(entry(names.name(shards.size()), shard));
            }
            fields.end();
            if (shards.isEmpty() || !names.isNumbered()) {
                throw fields.wrong("shards", shards.size() + " of '" + names.pattern() + "'",
                        "one or more, of a pattern with a place for a number");
            }
            return new ShardRecord(file, names, List.copyOf(shards));
        });
    }

    private static Entry entry(String name, JsonFields fields) {
        fields.expect("name", name);
        Entry entry = new Entry(name, fields.whole("bytes", 0, Long.MAX_VALUE),
                fields.whole("samples", 0, Long.MAX_VALUE), fields.text("content"));
        fields.end();
        if (!entry.content.matches("[0-9a-f]{32}")) {
            throw fields.wrong("content", Json.shown(entry.content), "32 hexadecimal digits");
        }
        return entry;
    }

    MalformedStoreException missing(Location folder, List<String> missing) {
        String found = "no " + String.join(", ", missing.subList(0, Math.min(NAMED, missing.size())))
                + (missing.size() > NAMED ? " and " + (missing.size() - NAMED) + " shards more" : "");
        return new MalformedStoreException(folder, found, "the " + shards.size() + " shards that " + file.name()
                + " names (a list of shards reads those that are there)");
    }

    MalformedStoreException other(Location shard, String found, String expected) {
        return new MalformedStoreException(shard, found, expected + ", as " + file.name()
                + " says (a shard of another dataset? if it was changed on purpose, remove that file)");
    }
}
