package io.penstock.format.webdataset;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.publish.CommittedFolder;
import io.penstock.io.publish.Generation;
import io.penstock.io.publish.StoreNames;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The datasets that some shards may belong to, by their names: for each, a record may be beside them, and a committed
 * folder. A few patterns stand for any number of shards, so few files are looked for.
 */
final class ShardSets {

    private final List<Path> shards;
    /** The paths that writers of such shards are given, with a {@code %d}. */
    private final List<Path> patterns;
    /** Those of the sets, and of the shards as sets of their own, that are committed; null until somebody asks. */
    private List<Path> committed;

    private ShardSets(List<Path> shards, Set<Path> patterns) {
        this.shards = shards;
        this.patterns = List.copyOf(patterns);
    }

    /** The sets of shards, which need not exist. */
    static ShardSets of(List<Path> shards) {
        Set<Path> patterns = new LinkedHashSet<>();
        for (Path shard : shards) {
            if (shard.getFileName() != null) {
                for (String pattern : StoreNames.patternsOf(shard.getFileName().toString())) {
                    patterns.add(shard.resolveSibling(pattern));
                }
            }
        }
        return new ShardSets(shards, patterns);
    }

    /** Where a shard is: in the committed folder of a set, or in its place. */
    Path locate(Path shard) {
        for (Path pattern : committed()) {
            if (pattern.resolveSibling(shard.getFileName()).equals(shard)) {
                Path found = CommittedFolder.locate(pattern, shard);
                if (!found.equals(shard)) {
                    return found;
                }
            }
        }
        return shard;
    }

    private synchronized List<Path> committed() {
        if (committed == null) {
            committed = Stream.concat(patterns.stream(), shards.stream()).filter(CommittedFolder::exists).toList();
        }
        return committed;
    }

    /** By which writing of the sets the shards are: their records mark it, and a single shard marks itself. */
    Generation generation() throws IOException {
        List<CommittedFolder.Place> marks = new ArrayList<>();
        patterns.forEach(pattern -> marks.add(() -> locateRecord(pattern)));
        if (shards.size() == 1) {
            Path shard = shards.getFirst();
            patterns.forEach(pattern -> marks.add(() -> CommittedFolder.locate(pattern, shard)));
            marks.add(() -> CommittedFolder.locate(shard));
        }
        return Generation.of(marks);
    }

    private static Path locateRecord(Path pattern) {
        return CommittedFolder.locate(pattern,
                pattern.resolveSibling(ShardRecord.nameFor(pattern.getFileName().toString())));
    }

    /** The record of a pattern; null if there is none. */
    static ShardRecord record(Path pattern) throws IOException {
        return CommittedFolder.openIfThere(() -> locateRecord(pattern), ShardRecord::read);
    }

    /** What a record says of a shard. */
    private record Recorded(ShardRecord record, ShardRecord.Entry entry) {
    }

    /** What the records of the sets say, by shard: of one that several name, the last. */
    private Map<Path, Recorded> recorded() throws IOException {
        Map<Path, Recorded> recorded = new HashMap<>();
        for (Path pattern : patterns) {
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
        Map<Path, Recorded> recorded = recorded();
        for (int i = 0; i < opened.length; i++) {
            Recorded expected = recorded.get(shards.get(i));
            if (expected != null) {
                check(expected.record, expected.entry, shards.get(i), opened[i].index());
            }
        }
    }

    private static void check(ShardRecord record, ShardRecord.Entry expected, Path path, ShardIndex index)
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
