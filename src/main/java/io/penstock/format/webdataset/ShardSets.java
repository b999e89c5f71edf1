package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.file.StoreNames;
import io.penstock.io.index.Generation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The datasets that some shards may belong to, by their names: for each, a record may be beside them. A few patterns
 * stand for any number of shards, so few files are looked for.
 */
final class ShardSets {

    private final List<Location> shards;
    /** The paths that writers of such shards are given, with a {@code %d}. */
    private final List<Location> patterns;

    private ShardSets(List<Location> shards, Set<Location> patterns) {
        this.shards = shards;
        this.patterns = List.copyOf(patterns);
    }

    /** The sets of shards, which need not exist. */
    static ShardSets of(List<Location> shards) {
        Set<Location> patterns = new LinkedHashSet<>();
        for (Location shard : shards) {
            for (String pattern : StoreNames.patternsOf(shard.name())) {
                patterns.add(shard.resolveSibling(pattern));
            }
        }
        return new ShardSets(shards, patterns);
    }

    /** By which writing of the sets the shards are: their records mark it, and a single shard marks itself. */
    Generation generation() throws IOException {
        List<Location> marks = new ArrayList<>();
        patterns.forEach(pattern -> marks.add(recordOf(pattern)));
        if (shards.size() == 1) {
            marks.add(shards.getFirst());
        }
        return Generation.of(marks);
    }

    private static Location recordOf(Location pattern) {
        return pattern.resolveSibling(ShardRecord.nameFor(pattern.name()));
    }

    /** The record of a pattern; null if there is none. */
    static ShardRecord record(Location pattern) throws IOException {
        Location record = recordOf(pattern);
        return record.isFile() ? ShardRecord.read(record) : null;
    }

    /** What a record says of a shard. */
    private record Recorded(ShardRecord record, ShardRecord.Entry entry) {
    }

    /** What the records of the sets say, by shard: of one that several name, the last. */
    private Map<Location, Recorded> recorded() throws IOException {
        Map<Location, Recorded> recorded = new HashMap<>();
        for (Location pattern : patterns) {
            ShardRecord record = record(pattern);
            if (record != null) {
                record.shards().forEach(shard ->
                        recorded.put(pattern.resolveSibling(shard.name()), new Recorded(record, shard)));
            }
        }
        return recorded;
    }

    /**
     * Holds shards that are open against the records beside them.
     *
     * @throws MalformedStoreException if one is another than its record says
     */
    void check(Shard[] opened) throws IOException {
        if (opened.length == 1) {
            return; // read alone, it is no part of anything
        }
        Map<Location, Recorded> recorded = recorded();
        for (int i = 0; i < opened.length; i++) {
            Recorded expected = recorded.get(shards.get(i));
            if (expected != null) {
                check(expected.record, expected.entry, shards.get(i), opened[i].index());
            }
        }
    }

    private static void check(ShardRecord record, ShardRecord.Entry expected, Location path, ShardIndex index)
            throws MalformedStoreException {
        ShardRecord.Entry found = ShardRecord.Entry.of(expected.name(), index);
        if (found.bytes() != expected.bytes()) {
            throw record.other(path, found.bytes() + " bytes", Long.toString(expected.bytes()));
        }
        if (found.samples() != expected.samples()) {
            throw record.other(path, found.samples() + " samples", Long.toString(expected.samples()));
        }
        if (!found.content().equals(expected.content())) {
            throw record.other(path, "content " + found.content(), expected.content());
        }
    }
}
