// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.local.CommittedFolder;
import io.penstock.io.publish.Generation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The datasets that some shards may belong to, judging by their names. Each may have a record beside the shards. A few
 * patterns cover any number of shards, so few files are looked up.
 */
final class ShardSets {

    private final List<Location> shards;
    /** The patterns with a {@code %d} that may have named such shards. */
    private final List<Location> patterns;

    private ShardSets(List<Location> shards, Set<Location> patterns) {
        this.shards = shards;
        this.patterns = List.copyOf(patterns);
    }

    /** Returns the datasets of shards, which need not exist. */
    static ShardSets of(List<Location> shards) {
        Set<Location> patterns = new LinkedHashSet<>();
        for (Location shard : shards) {
            for (String pattern : CommittedFolder.patternsOf(shard.name())) {
                patterns.add(shard.resolveSibling(pattern));
            }
        }
        return new ShardSets(shards, patterns);
    }

    /** Returns the generation of the shards. The records are its markers; a single shard is its own marker. */
    Generation generation() throws IOException {
        List<Location> markers = new ArrayList<>();
        patterns.forEach(pattern -> markers.add(recordOf(pattern)));
        if (shards.size() == 1) {
            markers.add(shards.getFirst());
        }
        return Generation.of(markers);
    }

    private static Location recordOf(Location pattern) {
        return pattern.resolveSibling(ShardRecord.nameFor(pattern.name()));
    }

    /** Returns the record of a pattern; null if there is none. */
    static @Nullable ShardRecord record(Location pattern) throws IOException {
        Location record = recordOf(pattern);
        return record.isFile() ? ShardRecord.read(record) : null;
    }

    private record Recorded(ShardRecord record, ShardRecord.Entry entry) {
    }

    /** Returns the entries by shard; if several records name a shard, the last one's. */
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

    /** Checks open shards against the records beside them. */
    void check(Shard[] opened) throws IOException {
        if (opened.length == 1) {
            return; // a single shard is read on its own
        }
        Map<Location, Recorded> recorded = recorded();
        for (int i = 0; i < opened.length; i++) {
            Recorded expected = recorded.get(shards.get(i));
            if (expected != null) {
                check(expected.record, expected.entry, shards.get(i), opened[i].index);
            }
        }
    }

    private static void check(ShardRecord record, ShardRecord.Entry expected, Location path, ShardIndex index) {
        ShardRecord.Entry found = ShardRecord.Entry.of(expected.name(), index);
        if (found.bytes() != expected.bytes()) {
            throw record.other(path, found.bytes() + " bytes", Long.toString(expected.bytes()));
        }
        if (found.samples() != expected.samples()) {
            throw record.other(path, found.samples() + " samples", Long.toString(expected.samples()));
        }
        // The content of a remote shard stands for its version, which the record does not have.
        if (path.local().isPresent() && !found.content().equals(expected.content())) {
            throw record.other(path, "content " + found.content(), expected.content());
        }
    }
}
