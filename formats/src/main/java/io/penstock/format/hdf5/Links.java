// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads the links of a group: from a symbol table, its object header, or a fractal heap. */
final class Links {

    private static final int IN_SYMBOL_TABLE_SOFT = 2;

    private final AddressSpace space;
    private final List<Link> links = new ArrayList<>();

    private Links(AddressSpace space) {
        this.space = space;
    }

    static boolean isGroup(ObjectHeader header) {
        return header.has(Message.SYMBOL_TABLE) || header.has(Message.LINK_INFO) || header.has(Message.LINK);
    }

    /** Returns a group's links, sorted by the bytes of their names, as in the library. */
    static List<Link> read(AddressSpace space, ObjectHeader header) {
        Links links = new Links(space);
        Cursor table = header.openIfThere(Message.SYMBOL_TABLE, "symbol table message");
        if (table != null) {
            links.readSymbolTable(table.address(), table.address());
        }
        for (Message message : header.all(Message.LINK)) {
            links.add(Link.read(message.open("link message")));
        }
        Cursor info = header.openIfThere(Message.LINK_INFO, "link info message");
        if (info != null) {
            info.version(0, 0);
            info.skip((info.u8() & 1) != 0 ? 8 : 0);
            links.readHeap(info.address(), info.address());
        }
        return links.sorted(header);
    }

    private void add(Link link) {
        space.spend(link.name().length(), "links");
        links.add(link);
    }

    private void readHeap(long heapAddress, long treeAddress) {
        if (heapAddress == AddressSpace.UNDEFINED) {
            return;
        }
        FractalHeap heap = new FractalHeap(space, heapAddress);
        BTree2.walk(space, treeAddress, BTree2.LINKS,
                record -> add(Link.read(heap.object(record.skip(4).part(heap.idBytes(), "heap id of a link")))));
    }

    private void readSymbolTable(long tree, long heapAddress) {
        LocalHeap heap = new LocalHeap(space, heapAddress);
        BTree1.walk(space, tree, BTree1.GROUP, space.lengthBytes(), (_, child) -> readSymbols(child, heap));
    }

    private void readSymbols(long address, LocalHeap heap) {
        int prefixBytes = 8;
        int entryBytes = 2 * space.addressBytes() + 24;
        int count = space.open(address, prefixBytes, "symbol table node").signature("SNOD").version(1, 1).skip(1).u16();
        Cursor at = space.open(address, prefixBytes + (long) count * entryBytes, "symbol table node");
        at.skip(prefixBytes);
        for (int i = 0; i < count; i++) {
            String name = heap.text(at.notNegative(at.address()));
            long header = at.address();
            long cached = at.u32();
            long scratch = at.skip(4).u32();
            at.skip(12);
            add(cached == IN_SYMBOL_TABLE_SOFT
                    ? new Link(name, Link.Kind.SOFT, AddressSpace.UNDEFINED, heap.text(scratch))
                    : new Link(name, Link.Kind.HARD, header, ""));
        }
    }

    private List<Link> sorted(ObjectHeader header) {
        links.sort((a, b) -> Arrays.compareUnsigned(a.name().getBytes(StandardCharsets.UTF_8),
                b.name().getBytes(StandardCharsets.UTF_8)));
        for (int i = 0; i < links.size(); i++) {
            String name = links.get(i).name();
            boolean twice = i > 0 && name.equals(links.get(i - 1).name());
            if (twice || name.isEmpty() || name.indexOf('/') >= 0) {
                throw space.malformed(space.position(header.address(), 0, "group"),
                        (twice ? "two links" : "a link") + " named '" + name + "'",
                        "names that are not empty, have no slash and differ");
            }
        }
        return links;
    }
}
