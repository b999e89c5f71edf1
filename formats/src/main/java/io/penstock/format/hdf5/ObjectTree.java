// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.error.MalformedStoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The objects below a group, found by following hard links in the order of their names. Each object has the first path
 * that leads to it, as in h5py's {@code visititems}.
 */
final class ObjectTree {

    private static final int MAX_DEPTH = 512;
    private static final int MAX_SHOWN = 20;
    private static final int MAX_SOFT_LINKS = 32;

    private record Step(String path, long address, int depth) {
    }

    private final AddressSpace space;
    private final GlobalHeap strings;
    private final List<StoredDataset> datasets = new ArrayList<>();
    private final List<Map<String, @Nullable Object>> attributes = new ArrayList<>();

    private ObjectTree(AddressSpace space) {
        this.space = space;
        this.strings = new GlobalHeap(space);
    }

    /** Reads the objects at and below a path, which may contain soft links; null for the whole file. */
    static ObjectTree read(Superblock superblock, @Nullable String member) {
        ObjectTree tree = new ObjectTree(superblock.space());
        if (superblock.extension() != AddressSpace.UNDEFINED
                && ObjectHeader.read(superblock.space(), superblock.extension()).has(Message.CACHE_IMAGE)) {
            throw superblock.space().malformed(superblock.offset(), "an image of the library's metadata cache, which"
                    + " is not supported", "a file without one");
        }
        String path = member == null ? "/" : normal(member);
        tree.walk(path, tree.resolve(superblock.root(), path));
        return tree;
    }

    List<StoredDataset> datasets() {
        return datasets;
    }

    List<Map<String, @Nullable Object>> attributes() {
        return attributes;
    }

    private void walk(String startPath, long start) {
        Set<Long> seen = new HashSet<>();
        Deque<Step> stack = new ArrayDeque<>();
        stack.push(new Step(startPath, start, 0));
        while (!stack.isEmpty()) {
            Step step = stack.pop();
            if (!seen.add(step.address())) {
                continue;
            }
            space.spend(step.path().length(), "group " + step.path());
            ObjectHeader header = ObjectHeader.read(space, step.address());
            attributes.addAll(Attributes.read(space, strings, header, step.path()));
            if (StoredDataset.isDataset(header)) {
                datasets.add(StoredDataset.read(space, header, step.path()));
            } else if (Links.isGroup(header)) {
                if (step.depth() == MAX_DEPTH) {
                    throw space.malformed(space.position(step.address(), 0, "group"), "groups nested deeper than "
                            + MAX_DEPTH, "at most as many levels");
                }
                String prefix = step.path().equals("/") ? "/" : step.path() + "/";
                for (Link link : Links.read(space, header).reversed()) {
                    if (link.kind() == Link.Kind.HARD && !seen.contains(link.address())) {
                        stack.push(new Step(prefix + link.name(), link.address(), step.depth() + 1));
                    }
                }
            }
        }
    }

    private static String normal(String path) {
        List<String> names = new ArrayList<>();
        for (String name : path.split("/")) {
            if (!name.isEmpty() && !name.equals(".")) {
                names.add(name);
            }
        }
        return "/" + String.join("/", names);
    }

    /** Returns the names that a group has, the first ones if they are many; none if it is a dataset. */
    private List<String> namesIn(long address) {
        ObjectHeader header = ObjectHeader.read(space, address);
        List<String> names = Links.isGroup(header) ? Links.read(space, header).stream().map(Link::name).toList()
                : List.of();
        return names.size() <= MAX_SHOWN ? names : Stream.concat(names.subList(0, MAX_SHOWN).stream(),
                Stream.of("…")).toList();
    }

    private long resolve(long root, String path) {
        Deque<String> names = new ArrayDeque<>(List.of(path.split("/")));
        long at = root;
        int softLinks = 0;
        while (!names.isEmpty()) {
            String name = names.pop();
            if (name.isEmpty() || name.equals(".")) {
                continue;
            }
            Link link = link(at, name);
            if (link == null || link.kind() == Link.Kind.ELSEWHERE || softLinks > MAX_SOFT_LINKS) {
                throw new MalformedStoreException(space.file().location(), (link == null ? "no '" + name + "'"
                        : softLinks > MAX_SOFT_LINKS ? "too many soft links" : "'" + name + "' is in another file")
                        + " on the way to " + path, "a path of groups that ends at an object of this file"
                        + (link == null ? ", as in [" + String.join(", ", namesIn(at)) + "]" : ""));
            }
            if (link.kind() == Link.Kind.HARD) {
                at = link.address();
                continue;
            }
            softLinks++;
            if (link.target().startsWith("/")) {
                at = root;
            }
            for (String part : List.of(link.target().split("/")).reversed()) {
                names.push(part);
            }
        }
        return at;
    }

    private @Nullable Link link(long group, String name) {
        ObjectHeader header = ObjectHeader.read(space, group);
        return Links.isGroup(header) ? Links.read(space, header).stream().filter(link -> link.name().equals(name))
                .findFirst().orElse(null) : null;
    }
}
