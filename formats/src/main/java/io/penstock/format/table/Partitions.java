// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The files of a table in Hive's layout, {@code lang=de/year=2024/part-0.parquet}: what a folder's name says is a value
 * of each row below it. A key is a column: {@code i32} if all its values are integers of 32 bits, otherwise text.
 *
 * <p>Keys and values may be percent-encoded. A file that is not below a folder of a key, or below
 * {@code key=__HIVE_DEFAULT_PARTITION__}, has null for it. Names that start with a dot or an underscore are left out.
 *
 * <p>Source: Hive's {@code DynamicPartitions}, and Arrow's {@code HivePartitioning}, whose types these are.
 */
public final class Partitions implements AutoCloseable {

    private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
    private static final int MAX_DEPTH = 32;
    private static final Pattern INTEGER = Pattern.compile("-?[0-9]+");
    private static final Pattern ENCODED = Pattern.compile("(?:%[0-9A-Fa-f]{2})+");

    /** A file, and the values of its keys, of which one may be null. */
    private record Part(Location file, Map<String, Optional<String>> values) {
    }

    /** A key; {@code values} has the bytes of its value for each file, null where it has none. */
    private record Key(Column column, @Nullable MemorySegment[] values) {
    }

    private final Arena arena = Arena.ofShared();
    private final List<Part> parts;
    private final List<Key> keys;

    private Partitions(List<Part> parts, Set<String> stored) {
        this.parts = parts;
        Set<String> names = parts.stream().flatMap(part -> part.values.keySet().stream())
                .filter(name -> !stored.contains(name)).collect(Collectors.toCollection(LinkedHashSet::new));
        this.keys = names.stream().map(this::key).toList();
    }

    private Key key(String name) {
        List<@Nullable String> values = new ArrayList<>();
        for (Part part : parts) {
            values.add(part.values.getOrDefault(name, Optional.empty()).orElse(null));
        }
        boolean areIntegers = values.stream().allMatch(value -> value == null || isInteger(value))
                && values.stream().anyMatch(value -> value != null);
        @Nullable MemorySegment[] segments = new MemorySegment[values.size()];
        for (int file = 0; file < segments.length; file++) {
            String value = values.get(file);
            if (value != null && areIntegers) {
                segments[file] = arena.allocateFrom(LittleEndian.I32, Integer.parseInt(value));
            } else if (value != null) {
                byte[] text = value.getBytes(StandardCharsets.UTF_8);
                segments[file] = arena.allocate(Math.max(1, text.length)).copyFrom(MemorySegment.ofArray(text))
                        .asSlice(0, text.length);
            }
        }
        return new Key(areIntegers ? Column.numbers(name, DType.I32) : Column.text(name, ""), segments);
    }

    private static boolean isInteger(String value) {
        try {
            int _ = Integer.parseInt(value);
            return INTEGER.matcher(value).matches();
        } catch (NumberFormatException _) {
            return false;
        }
    }

    /** Tells whether a folder has files of an ending in folders that are partitions. */
    public static boolean isPartitioned(Location folder, String ending) throws IOException {
        List<String> partitions = folder.folders(Partitions::isPartition);
        for (String name : partitions) {
            Location below = folder.resolve(name);
            if (!below.files(file -> isPartOf(file, ending)).isEmpty() || isPartitioned(below, ending)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isPartOf(String name, String ending) {
        return name.endsWith(ending) && !isHidden(name);
    }

    /** Tells whether readers of tables leave out files or folders of this name: {@code _SUCCESS}, {@code .part.crc}. */
    public static boolean isHidden(String name) {
        return name.startsWith(".") || name.startsWith("_");
    }

    private static boolean isPartition(String name) {
        return !isHidden(name) && name.indexOf('=') > 0;
    }

    /** The files of a table, before the columns are known that they store. */
    public static final class Files {

        private final List<Part> parts;

        private Files(List<Part> parts) {
            this.parts = parts;
        }

        /**
         * Lists the files of a table: a file alone, a folder's {@link ShardFiles}, or those of all partitions, sorted
         * by the bytes of their paths.
         *
         * @param member one of several tables in a folder; null if there is one
         */
        public static Files of(Location path, String ending, UnaryOperator<String> tableOf, @Nullable String member)
                throws IOException {
            boolean isFolder = path.isFolder();
            if (!isFolder && member != null) {
                throw new IllegalArgumentException(path + ": one file is one table, found '" + member + "'");
            }
            if (!isFolder || !isPartitioned(path, ending)) {
                return of(isFolder ? ShardFiles.of(path, ending, tableOf, member) : List.of(path));
            }
            if (member != null) {
                throw new IllegalArgumentException(path + ": a folder of partitions is one table, found '" + member
                        + "'");
            }
            List<Part> found = new ArrayList<>();
            collect(found, path, ending, Map.of(), 0);
            found.sort(Comparator.comparing(part -> part.file.path().getBytes(StandardCharsets.UTF_8),
                    Arrays::compareUnsigned));
            return new Files(List.copyOf(found));
        }

        /** Returns files of which no folder says a value. */
        public static Files of(List<Location> files) {
            return new Files(files.stream().map(file -> new Part(file, Map.of())).toList());
        }

        public List<Location> locations() {
            return parts.stream().map(Part::file).toList();
        }

        /** Returns the values of the keys; a key that is the name of a stored column is that column. */
        public Partitions partitions(Set<String> storedColumns) {
            return new Partitions(parts, storedColumns);
        }
    }

    private static void collect(List<Part> found, Location folder, String ending, Map<String, Optional<String>> values,
            int depth) throws IOException {
        if (depth > MAX_DEPTH) {
            throw new MalformedStoreException(folder, "partitions nested more than " + MAX_DEPTH + " deep", "fewer");
        }
        for (Location file : folder.files(name -> isPartOf(name, ending))) {
            found.add(new Part(file, values));
        }
        for (String name : folder.folders(name -> !isHidden(name))) {
            Location below = folder.resolve(name);
            int before = found.size();
            Map<String, Optional<String>> more = new LinkedHashMap<>(values);
            if (isPartition(name)) {
                String value = name.substring(name.indexOf('=') + 1);
                more.putIfAbsent(decoded(name.substring(0, name.indexOf('='))),
                        value.equals(NULL) ? Optional.empty() : Optional.of(decoded(value)));
            }
            collect(found, below, ending, more, depth + 1);
            if (!isPartition(name) && found.size() > before) {
                throw new MalformedStoreException(found.get(before).file(), "a file of a partitioned folder in '" + name
                        + "', which is no partition", "folders named key=value, as others there are");
            }
        }
    }

    /** Decodes runs of bytes in hexadecimal digits; a sign of percent that encodes nothing stands for itself. */
    private static String decoded(String text) {
        return ENCODED.matcher(text).replaceAll(run -> {
            byte[] bytes = new byte[run.group().length() / 3];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(run.group(), 3 * i + 1, 3 * i + 3, 16);
            }
            return Matcher.quoteReplacement(new String(bytes, StandardCharsets.UTF_8));
        });
    }

    public List<Column> columns() {
        return keys.stream().map(Key::column).toList();
    }

    public boolean isPresent(int file, int column) {
        return keys.get(column).values[file] != null;
    }

    /** Locates a value that is not null. */
    public void locate(int file, int column, Span into) {
        Key key = keys.get(column);
        MemorySegment value = key.values[file];
        if (value == null) {
            throw new MalformedStoreException(parts.get(file).file, "column '"
                    + key.column.name() + "' is null: no folder has its value", "a folder " + key.column.name()
                    + "=VALUE");
        }
        into.set(value, 0, value.byteSize());
    }

    /** Returns the types of the columns, in Arrow's terms. */
    public List<String> types() {
        return keys.stream().map(key -> key.column.kind() == Column.Kind.TEXT ? "string" : "int32").toList();
    }

    /** Adds the values to a fingerprint, if there are any. */
    public void addTo(Fingerprint fingerprint) {
        if (keys.isEmpty()) {
            return;
        }
        fingerprint.add(MemorySegment.ofArray(parts.stream().map(part -> part.values.toString())
                .collect(Collectors.joining("\n")).getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public void close() {
        arena.close();
    }
}
