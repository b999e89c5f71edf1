// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The messages of an object: a group, a dataset or a named datatype. They are in a first block and its continuations,
 * in version 1 (no signature, no checksums, messages padded to 8 bytes) or version 2.
 */
final class ObjectHeader {

    private static final String NAME = "object header";
    private static final int V1_PREFIX_BYTES = 16;
    private static final int V1_MESSAGE_BYTES = 8;
    private static final int CHECKSUM_BYTES = 4;
    private static final int TIMES = 0x20;
    private static final int PHASE_CHANGE = 0x10;
    private static final int CREATION_ORDER = 0x04;
    /** The kind of a shared message, version 3, that is in the file's heap of shared messages. */
    private static final int IN_SHARED_HEAP = 1;

    private record Block(long address, long bytes) {
    }

    private final AddressSpace space;
    private final long address;
    private final List<Message> messages = new ArrayList<>();
    private final Deque<Block> continuations = new ArrayDeque<>();
    private final Set<Long> seen = new HashSet<>();

    private ObjectHeader(AddressSpace space, long address) {
        this.space = space;
        this.address = address;
    }

    static ObjectHeader read(AddressSpace space, long address) {
        ObjectHeader header = new ObjectHeader(space, address);
        Cursor first = space.open(address, V1_PREFIX_BYTES, NAME);
        if (first.u8() == 1) {
            header.readOld(first);
        } else {
            header.readNew();
        }
        return header;
    }

    private void readOld(Cursor prefix) {
        int count = prefix.skip(1).u16();
        long bytes = prefix.skip(4).u32();
        count = readOldBlock(space.open(address + V1_PREFIX_BYTES, bytes, NAME), count);
        for (Block block = next(); block != null; block = next()) {
            count = readOldBlock(space.open(block.address(), block.bytes(), NAME + " continuation"), count);
        }
    }

    /** Reads at most {@code count} messages; returns the number of messages left. */
    private int readOldBlock(Cursor at, int count) {
        int left = count;
        for (; left > 0 && at.remaining() >= V1_MESSAGE_BYTES; left--) {
            int type = at.u16();
            int bytes = at.u16();
            int flags = at.u8();
            at.skip(3);
            add(type, flags, 0, at, bytes);
        }
        return left;
    }

    private void readNew() {
        Cursor prefix = space.open(address, 6, NAME).signature("OHDR").version(2, 2);
        int flags = prefix.u8();
        int sizeBytes = 1 << (flags & 3);
        int skipped = ((flags & TIMES) != 0 ? 16 : 0) + ((flags & PHASE_CHANGE) != 0 ? 4 : 0);
        int prefixBytes = 6 + skipped + sizeBytes;
        long bytes = space.open(address, prefixBytes, NAME).skip(6 + skipped).number(sizeBytes);
        if (bytes < 0 || bytes > space.end()) {
            throw prefix.malformed("a block of " + Long.toUnsignedString(bytes) + " bytes", "one within the file");
        }
        Cursor at = space.open(address, prefixBytes + bytes + CHECKSUM_BYTES, NAME);
        readNewBlock(at.skip(prefixBytes), flags);
        for (Block block = next(); block != null; block = next()) {
            readNewBlock(space.open(block.address(), block.bytes(), NAME + " continuation").signature("OCHK"), flags);
        }
    }

    private void readNewBlock(Cursor at, int headerFlags) {
        boolean ordered = (headerFlags & CREATION_ORDER) != 0;
        int prefixBytes = ordered ? 6 : 4;
        while (at.remaining() >= prefixBytes + CHECKSUM_BYTES) {
            int type = at.u8();
            int bytes = at.u16();
            int flags = at.u8();
            add(type, flags, ordered ? at.u16() : 0, at, bytes);
        }
        at.skip(at.remaining() - CHECKSUM_BYTES).checksum();
    }

    private void add(int type, int flags, int order, Cursor at, int bytes) {
        long start = at.position();
        at.skip(bytes);
        Message message = new Message(space, type, flags, order, start, start + bytes);
        if (type == Message.CONTINUATION) {
            Cursor block = message.open("continuation message");
            continuations.add(new Block(block.address(), block.length()));
        } else if (type > Message.LAST && message.mustBeKnown()) {
            throw space.malformed(start, "a message of type " + type + " that must not be ignored",
                    "types up to " + Message.LAST);
        } else {
            messages.add(message);
        }
    }

    private @Nullable Block next() {
        Block block = continuations.poll();
        if (block != null && !seen.add(block.address())) {
            throw new Cursor(space, space.position(block.address(), 0, NAME), space.end(), NAME)
                    .malformed("a continuation block that is used twice", "each block once");
        }
        return block;
    }

    long address() {
        return address;
    }

    boolean has(int type) {
        return messages.stream().anyMatch(message -> message.type() == type);
    }

    List<Message> all(int type) {
        return messages.stream().filter(message -> message.type() == type).toList();
    }

    private @Nullable Message first(int type) {
        return messages.stream().filter(message -> message.type() == type).findFirst().orElse(null);
    }

    /** Opens the first message of a type that {@link #has has} one. */
    Cursor open(int type, String what) {
        return Objects.requireNonNull(openIfThere(type, what), what);
    }

    /** Opens the first message of a type, which may be in another object; returns null if there is none. */
    @Nullable Cursor openIfThere(int type, String what) {
        Message message = first(type);
        return message == null ? null : message.isShared() ? shared(space, message.open(what), type, what)
                : message.open(what);
    }

    /** Follows a reference to a message of another object, such as a named datatype. */
    static Cursor shared(AddressSpace space, Cursor reference, int type, String what) {
        int version = reference.versionOf(1, 3);
        int kind = reference.u8();
        if (version == 3 && kind == IN_SHARED_HEAP) {
            throw reference.malformed("a message in the heap of shared messages, which is not supported",
                    "one in an object header");
        }
        long address = reference.skip(version == 1 ? 6 : 0).address();
        Message message = read(space, address).first(type);
        if (message == null || message.isShared()) {
            throw reference.malformed("a shared message that does not exist",
                    "one in the object at address " + address);
        }
        return message.open(what);
    }
}
