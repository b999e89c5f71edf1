// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The files of a folder that are one table, as Hugging Face names them: {@code train-00003-of-00010.parquet}. */
public final class ShardFiles {

    private static final Pattern SHARD = Pattern.compile("(.*)-(\\d{5,9})-of-(\\d{5,9})");

    /**
     * Finds the files of one table, sorted by name.
     *
     * @param tableOf the table of a file that is not named as a shard, by its name without the ending
     * @param table the table wanted: {@code train} in the example; null if there is but one
     */
    public static List<Location> of(Location folder, String ending, UnaryOperator<String> tableOf,
            @Nullable String table) throws IOException {
        Map<String, List<Location>> tables = new TreeMap<>();
        Map<String, Integer> counts = new HashMap<>();
        for (Location file : folder.files(name -> name.endsWith(ending) && !Partitions.isHidden(name))) {
            String name = file.name().substring(0, file.name().length() - ending.length());
            Matcher shard = SHARD.matcher(name);
            boolean isShard = name.contains("-of-") && shard.matches();
            String found = isShard ? shard.group(1) : tableOf.apply(name);
            if (isShard) {
                counts.put(found, Integer.parseInt(shard.group(3)));
            }
            tables.computeIfAbsent(found, _ -> new ArrayList<>()).add(file);
        }
        if (tables.isEmpty()) {
            throw new MalformedStoreException(folder, "a folder without " + ending + " files", "at least one");
        }
        String chosen = choose(folder, tables.keySet(), table);
        List<Location> files = tables.getOrDefault(chosen, List.of());
        int count = counts.getOrDefault(chosen, files.size());
        if (count != files.size()) {
            throw new MalformedStoreException(folder, files.size() + " files of '" + chosen + "'", count
                    + ", as their names say");
        }
        if (counts.containsKey(chosen)) {
            requireOneSet(files, ending, count);
        }
        return files;
    }

    /** Checks that files are the shards of one set: what is left of another one may make up their number. */
    private static void requireOneSet(List<Location> files, String ending, int count) {
        Set<Integer> numbers = new HashSet<>();
        for (Location file : files) {
            Matcher shard = SHARD.matcher(file.name().substring(0, file.name().length() - ending.length()));
            if (!shard.matches() || Integer.parseInt(shard.group(3)) != count
                    || !numbers.add(Integer.parseInt(shard.group(2)))) {
                throw new MalformedStoreException(file, "a shard of another set", "one of " + count
                        + ", each number once, as the files beside it say");
            }
        }
        // Some writers count from 1.
        int first = Collections.min(numbers);
        int last = Collections.max(numbers);
        if (first > 1 || last - first != count - 1) {
            throw new MalformedStoreException(files.getFirst(), "shards " + first + " to " + last + " of " + count,
                    "all from 0 or 1 on");
        }
    }

    /** Returns the table that is wanted, or the only one if none is named. */
    public static String choose(Location folder, Collection<String> tables, @Nullable String table) {
        if (table == null && tables.size() == 1) {
            return tables.iterator().next();
        }
        if (table == null) {
            throw new MalformedStoreException(folder, "files of several tables: " + tables, "one, or the name of one");
        }
        if (!tables.contains(table)) {
            throw new MalformedStoreException(folder, "no table '" + table + "'", "one of " + tables);
        }
        return table;
    }
}
