// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a log of calls did to a folder, as changes each of which a disk may have or lack when the power goes.
 *
 * <p>The model, which is weaker than what any journaling file system promises:
 * <ul>
 * <li>Data and size of a file last once an {@code fsync} or {@code fdatasync} of that file has returned. Before, each
 *     write and each truncation may be there or not, by itself; of one that is not there the size alone may be, the
 *     bytes then being zeros.
 * <li>An entry of a folder (a file or folder that was created, linked or removed) lasts once an {@code fsync} of that
 *     folder has returned, a rename once one of the folder that it leads to has. An {@code fsync} of a file does not
 *     make its name last. Before, each may be there or not; but changes of one name keep their order, so that none is
 *     there without those of the same name before it.
 * <li>A rename is one change, also between two folders and over a file that is there: never half of it is seen.
 * <li>What lasts does so for good. Removing a name does not lose the data of a file that another name leads to.
 * </ul>
 */
final class Disk {

    /** A change of a file's data, or of the names in folders. */
    private sealed interface Change {
        /** Bytes at an offset. */
        record Data(int node, long offset, byte[] bytes) implements Change { }

        /** Another size. */
        record Size(int node, long size) implements Change { }

        /** Names: those of {@code from}, if there is one, loses its node; {@code to}, if there is one, gets a node. */
        record Names(Name from, Name to, int node) implements Change { }
    }

    /** A name in a folder. */
    private record Name(int folder, String name) { }

    private static final int ROOT = 0;
    private static final int O_TRUNC = 0x200;

    private final List<byte[]> contentBefore = new ArrayList<>();
    private final List<Boolean> isFolder = new ArrayList<>();
    private final Map<Name, Integer> namesBefore = new HashMap<>();
    private final List<Change> changes = new ArrayList<>();
    /** By change: those of the same names before it. */
    private final List<int[]> needed = new ArrayList<>();
    /** By change: after how many calls it lasts; {@code Integer.MAX_VALUE} if never. */
    private final List<Integer> lastsAfter = new ArrayList<>();
    /** By change: after how many calls it was made. */
    private final List<Integer> madeAfter = new ArrayList<>();
    /** By change: what it is, in words. */
    private final List<String> words = new ArrayList<>();
    private final int calls;

    /**
     * The changes of a log.
     *
     * @param before what was in the folder, all of it lasting
     * @param log the calls
     */
    Disk(Tree before, List<CallLog.Call> log) {
        node(new byte[0], true);
        before.entries().forEach((path, entry) -> {
            Name name = nameOf(namesBefore, path);
            namesBefore.put(name, node(entry == null ? new byte[0] : entry.bytes(), entry == null));
        });
        this.calls = log.size();
        new Reader().read(log);
    }

    private int node(byte[] content, boolean folder) {
        contentBefore.add(content);
        isFolder.add(folder);
        return isFolder.size() - 1;
    }

    private static int nodeOf(Map<Name, Integer> names, String path) {
        int node = ROOT;
        for (String part : path.isEmpty() ? new String[0] : path.split("/")) {
            Integer next = names.get(new Name(node, part));
            if (next == null) {
                return -1;
            }
            node = next;
        }
        return node;
    }

    private static Name nameOf(Map<Name, Integer> names, String path) {
        int slash = path.lastIndexOf('/');
        int folder = nodeOf(names, slash < 0 ? "" : path.substring(0, slash));
        if (folder < 0 || path.isEmpty() || path.equals("..")) {
            throw new IllegalStateException("a call on '" + path + "', of which the log has no folder");
        }
        return new Name(folder, path.substring(slash + 1));
    }

    /** Goes through the log as the kernel did. */
    private final class Reader {
        private final Map<Name, Integer> names = new HashMap<>(namesBefore);
        private final Map<Integer, Integer> open = new HashMap<>();
        private final Map<Integer, String> paths = new HashMap<>();
        private final Map<Name, Integer> lastChangeOf = new HashMap<>();
        private int made;

        void read(List<CallLog.Call> log) {
            for (CallLog.Call call : log) {
                made++;
                apply(call);
            }
        }

        private void apply(CallLog.Call call) {
            int descriptor = call.descriptor();
            switch (call.operation()) {
                case 'O' -> open(call);
                case 'D' -> open.put((int) call.value(), open.get(descriptor));
                case 'C' -> open.remove(descriptor);
                case 'W' -> change(call, new Change.Data(open.get(descriptor), call.value(), call.data()));
                case 'T' -> change(call, new Change.Size(open.get(descriptor), call.value()));
                case 'S' -> sync(open.get(descriptor));
                case 'M' -> change(call, new Change.Names(null, nameOf(names, call.path()), node(new byte[0], true)));
                case 'U', 'X' -> change(call, new Change.Names(nameOf(names, call.path()), null, -1));
                case 'R' -> change(call, new Change.Names(nameOf(names, call.path()), nameOf(names, call.secondPath()),
                        nodeOf(names, call.path())));
                case 'L' -> change(call, new Change.Names(null, nameOf(names, call.secondPath()),
                        nodeOf(names, call.path())));
                default -> throw new IllegalStateException("a call " + call.operation() + " on " + call.path()
                        + ", which this model has not (a writable mapping or a symbolic link)");
            }
        }

        private void open(CallLog.Call call) {
            int node = nodeOf(names, call.path());
            if (node < 0) {
                node = node(new byte[0], false);
                change(call, new Change.Names(null, nameOf(names, call.path()), node));
            } else if ((call.value() & O_TRUNC) != 0) {
                change(call, new Change.Size(node, 0));
            }
            open.put(call.descriptor(), node);
            paths.put(call.descriptor(), call.path());
        }

        private void change(CallLog.Call call, Change change) {
            int[] before = new int[0];
            if (change instanceof Change.Names rename) {
                Set<Integer> all = new HashSet<>();
                for (Name name : new Name[] {rename.from, rename.to}) {
                    if (name != null) {
                        Integer last = lastChangeOf.put(name, changes.size());
                        if (last != null) {
                            all.add(last);
                        }
                    }
                }
                before = all.stream().mapToInt(Integer::intValue).toArray();
                Disk.apply(names, rename);
            }
            changes.add(change);
            needed.add(before);
            lastsAfter.add(Integer.MAX_VALUE);
            madeAfter.add(made);
            words.add(call.operation() + " " + call.path() + (call.operation() == 'R' ? " to " + call.secondPath() : "")
                    + (call.path().isEmpty() ? paths.getOrDefault(call.descriptor(), "") : ""));
        }

        private void sync(int node) {
            for (int i = 0; i < changes.size(); i++) {
                boolean of = switch (changes.get(i)) {
                    case Change.Data data -> data.node == node;
                    case Change.Size size -> size.node == node;
                    case Change.Names rename -> (rename.to != null ? rename.to : rename.from).folder == node;
                };
                if (of) {
                    lastsAfter.set(i, Math.min(lastsAfter.get(i), made));
                }
            }
        }
    }

    private static void apply(Map<Name, Integer> names, Change.Names change) {
        if (change.from != null) {
            names.remove(change.from);
        }
        if (change.to != null) {
            names.put(change.to, change.node);
        }
    }

    /** How many calls the log has. */
    int calls() {
        return calls;
    }

    /** How many changes the first calls made. */
    int changes(int firstCalls) {
        int count = 0;
        while (count < changes.size() && madeAfter.get(count) <= firstCalls) {
            count++;
        }
        return count;
    }

    /** Those of the changes of the first calls that may be lost. */
    BitSet unsynced(int firstCalls) {
        BitSet may = new BitSet();
        for (int i = 0; i < changes(firstCalls); i++) {
            if (lastsAfter.get(i) > firstCalls) {
                may.set(i);
            }
        }
        return may;
    }

    /** Whether a change is one of data. */
    boolean isData(int change) {
        return !(changes.get(change) instanceof Change.Names);
    }

    /** The letters of the calls that made some changes, with their paths. */
    String words(BitSet some) {
        return some.stream().mapToObj(words::get).collect(Collectors.joining(", "));
    }

    /**
     * Which changes the disk has when the power goes.
     *
     * @param firstCalls how many calls were made
     * @param lost changes that are to be lost; of these, those that last stay, with the ones they need
     */
    BitSet there(int firstCalls, BitSet lost) {
        int count = changes(firstCalls);
        BitSet there = new BitSet();
        for (int i = 0; i < count; i++) {           // a change is lost with one that it needs
            there.set(i, !lost.get(i) && Arrays.stream(needed.get(i)).allMatch(there::get));
        }
        for (int i = count - 1; i >= 0; i--) {      // one that lasts brings with it those that it needs
            if (there.get(i) || lastsAfter.get(i) <= firstCalls) {
                there.set(i);
                Arrays.stream(needed.get(i)).forEach(there::set);
            }
        }
        return there;
    }

    /**
     * What is on the disk then.
     *
     * @param count how many changes were made
     * @param there those that it has
     * @param sized whether data that it has not left zeros in its place
     */
    Tree after(int count, BitSet there, boolean sized) {
        Map<Name, Integer> names = new HashMap<>(namesBefore);
        Map<Integer, byte[]> content = new HashMap<>();
        for (int i = 0; i < count; i++) {
            boolean applied = there.get(i);
            switch (changes.get(i)) {
                case Change.Names rename when applied -> apply(names, rename);
                case Change.Data data when applied || sized ->
                        content.put(data.node, written(content(content, data.node), data, applied));
                case Change.Size size when applied ->
                        content.put(size.node, Arrays.copyOf(content(content, size.node), (int) size.size));
                default -> { }
            }
        }
        TreeMap<String, Tree.Entry> entries = new TreeMap<>();
        collect(names, content, ROOT, "", entries);
        return new Tree(entries);
    }

    private byte[] content(Map<Integer, byte[]> content, int node) {
        return content.getOrDefault(node, contentBefore.get(node));
    }

    private static byte[] written(byte[] before, Change.Data data, boolean there) {
        byte[] after = Arrays.copyOf(before, (int) Math.max(before.length, data.offset + data.bytes.length));
        if (there) {
            System.arraycopy(data.bytes, 0, after, (int) data.offset, data.bytes.length);
        }
        return after;
    }

    private void collect(Map<Name, Integer> names, Map<Integer, byte[]> content, int folder, String path,
            Map<String, Tree.Entry> into) {
        names.forEach((name, node) -> {
            if (name.folder == folder) {
                if (isFolder.get(node)) {
                    into.put(path + name.name, null);
                    collect(names, content, node, path + name.name + "/", into);
                } else {
                    into.put(path + name.name, new Tree.Entry(content(content, node), null));
                }
            }
        });
    }
}
