// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.TensorFiles;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.DecodedBlocks;
import io.penstock.io.publish.DecodedBlocks.Output;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * numpy's archive of arrays. A member that is stored uncompressed, row-major and little-endian is a view of the
 * mapping; any other is decoded into a copy when it is first located.
 *
 * <p>The CRC-32 of a stored member is checked at open, that of a deflated one when it is decoded.
 */
public final class NpzProvider implements StoreProvider {

    private static final String NAME = "npz";
    private static final String ENDING = ".npy";
    private static final int NAME_OFFSET = 30;

    private record Part(ZipMember member, NpyArray array, String name) {

        boolean isView() {
            return member.method() == ZipMember.STORED && array.isInPlace();
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        // A local header has the length of its name at byte 26 and the name at byte 30. Documents are ZIP archives too.
        byte[] head = candidate.head();
        return candidate.startsWith("PK\5\6") || candidate.startsWith("PK\3\4") && head.length >= NAME_OFFSET
                && new String(head, NAME_OFFSET, Math.min(head[NAME_OFFSET - 4] & 0xFF, head.length - NAME_OFFSET),
                        StandardCharsets.ISO_8859_1).endsWith(ENDING);
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(".npz");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return Mapping.open(path, file -> store(file, options.dtype(), options.decodeLimit()));
    }

    /**
     * Checks an archive's directory, the header of each array, and the checksums of stored members. {@code given} is
     * the type of elements that numpy stores as bytes, such as {@code bf16}; null if none is given.
     */
    private static TensorStore store(MappedFile file, @Nullable DType given, DecodeLimit limit) throws IOException {
        List<ZipMember> members = ZipDirectory.read(file);
        Map<String, String> unread = new LinkedHashMap<>();
        List<Part> parts = parts(file, members, given, unread);
        List<Part> copied = parts.stream().filter(part -> !part.isView()).toList();
        long[] sizes = copied.stream().mapToLong(part -> part.array.dataBytes()).toArray();
        limit.check(file.location(), file.byteSize(), copied.stream().mapToLong(part -> part.array.dataBytes()).sum());
        DecodedBlocks copies = copied.isEmpty() ? null : DecodedBlocks.createStreamed(file.location(), sizes,
                (block, output) -> decode(file, copied.get(block), output));
        List<TensorFiles.Entry> entries = new ArrayList<>();
        int blocks = 0;
        for (Part part : parts) {
            int block = part.isView() ? -1 : blocks++;
            TensorFiles.Bytes bytes = copies == null || block < 0
                    ? TensorFiles.Bytes.in(file, part.member.dataOffset() + part.array.dataOffset())
                    : (offset, byteSize, into) -> copies.locate(block, offset, byteSize, into);
            entries.add(new TensorFiles.Entry(part.array.spec(part.name), part.array.storedDtype(),
                    part.array.storedOrder(), block >= 0, bytes));
        }
        Map<String, @Nullable Object> details = Json.members(
                "members", members.stream().map(NpzProvider::describe).toList(),
                "converted", copied.stream().map(Part::name).toList());
        if (!unread.isEmpty()) {
            details.put("other_arrays", unread);
        }
        StoreInfo info = new StoreInfo(NAME, List.of(file.location()), details, List.of());
        return new TensorFiles(NAME + ":tensors=" + parts.size(), file.location(), List.of(file), entries, unread,
                _ -> info, copies == null ? () -> { } : copies::close);
    }

    /**
     * Returns the members that are arrays. As in numpy, their first bytes tell. An array that cannot be read does not
     * affect the others: {@code unread} gets the reason.
     */
    private static List<Part> parts(MappedFile file, List<ZipMember> members, @Nullable DType given,
            Map<String, String> unread) throws IOException {
        List<Part> found = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (ZipMember member : members) {
            boolean isNamed = member.name().endsWith(ENDING);
            byte[] head = member.refusal() == null ? member.head(file, NpyArray.MAX_HEADER_BYTES) : new byte[0];
            if (!isNamed && !NpyArray.isNpy(head)) {
                continue;
            }
            String name = isNamed ? member.name().substring(0, member.name().length() - ENDING.length())
                    : member.name();
            if (!names.add(name)) {
                throw new MalformedStoreException(file.location(), "two members for the array '" + name + "'", "one");
            }
            if (member.refusal() == null && member.method() == ZipMember.STORED) {
                member.check(file);
            }
            try {
                found.add(new Part(member, array(file, member, head, given), name));
            } catch (MalformedStoreException e) {
                String reason = String.valueOf(e.getMessage());
                unread.put(name, reason.startsWith(file.location() + ": ")
                        ? reason.substring((file.location() + ": ").length()) : reason);
            }
        }
        if (found.isEmpty() && !members.isEmpty()) {
            throw new MalformedStoreException(file.location(), "a zip archive of " + members.size() + " files, "
                    + (unread.isEmpty() ? "none of them an array" : "no array that can be read: " + unread.values()),
                    "members in the format of .npy");
        }
        return found;
    }

    private static NpyArray array(MappedFile file, ZipMember member, byte[] head, @Nullable DType given) {
        if (member.refusal() != null) {
            throw new MalformedStoreException(file.location(), member.inWords() + " " + member.refusal(),
                    "one that is stored or deflated");
        }
        NpyArray array = NpyArray.read(file.location(), member.inWords(), MemorySegment.ofArray(head),
                member.byteSize(), given);
        if (!array.isInPlace() && array.dataBytes() > DecodedBlocks.MAX_BLOCK_BYTES) {
            throw new MalformedStoreException(file.location(), member.inWords() + " has " + array.dataBytes()
                    + " bytes, big-endian or in Fortran order", "at most " + DecodedBlocks.MAX_BLOCK_BYTES
                    + " of such, which are converted in memory");
        }
        return array;
    }

    private static void decode(MappedFile file, Part part, Output output) throws IOException {
        NpyArray array = part.array;
        file.reading(() -> {
            if (array.isInPlace()) {
                part.member.read(file, array.dataOffset(), array.dataBytes(), output);
            } else {
                decodeAndConvert(file, part.member, array, output);
            }
            file.checkUnchanged();
            return file;
        });
    }

    private static void decodeAndConvert(MappedFile file, ZipMember member, NpyArray array, Output output)
            throws IOException {
        long bytes = array.dataBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stored = arena.allocate(bytes, Long.BYTES);
            member.read(file, array.dataOffset(), bytes, new Output() {
                private long at;

                @Override
                public void put(byte[] chunk, int offset, int length) {
                    MemorySegment.copy(chunk, offset, stored, ValueLayout.JAVA_BYTE, at, length);
                    at += length;
                }
            });
            MemorySegment converted = arena.allocate(bytes, Long.BYTES);
            array.convert(stored, converted);
            DecodedBlocks.put(converted, output);
        }
    }

    private static Map<String, @Nullable Object> describe(ZipMember member) {
        return Json.members("name", member.name(), "method", member.method(), "size", member.byteSize(),
                "flags", member.flags());
    }
}
