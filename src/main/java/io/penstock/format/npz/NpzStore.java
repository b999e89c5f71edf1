package io.penstock.format.npz;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.numpy.NpyArray;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.spill.DecodedBlocks;
import io.penstock.io.spill.DecodedBlocks.Output;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * The arrays of a {@code .npz}. A member that is stored as it is, row-major and little-endian is a view of the mapping;
 * one that is deflated, or in another order, is decoded into a copy when it is located for the first time.
 *
 * <p>The CRC-32 of a stored member is checked when the store is opened, that of a deflated one when it is decoded.
 */
final class NpzStore implements TensorStore, StoreInfo.Described {

    private static final String ENDING = ".npy";

    /**
     * A member that is an array.
     *
     * @param block where its copy is; -1 if it is a view
     */
    private record Part(ZipMember member, NpyArray array, TensorSpec spec, int block) {

        long dataOffset() {
            return member.dataOffset() + array.dataOffset();
        }
    }

    private final MappedFile file;
    private final List<ZipMember> members;
    private final List<Part> parts;
    private final List<TensorSpec> specs;
    private final DecodedBlocks copies;
    private volatile String fingerprint;

    private NpzStore(MappedFile file, DType told, DecodeLimit limit) throws IOException {
        this.file = file;
        this.members = ZipDirectory.read(file);
        this.parts = parts(told);
        this.specs = parts.stream().map(Part::spec).toList();
        List<Part> copied = parts.stream().filter(part -> part.block >= 0).toList();
        limit.check(file.location(), file.byteSize(), copied.stream().mapToLong(part -> part.array.dataBytes()).sum());
        this.copies = copied.isEmpty() ? null : DecodedBlocks.createStreamed(file.location(),
                copied.stream().mapToLong(part -> part.array.dataBytes()).toArray(),
                (block, output) -> decode(copied.get(block), output));
    }

    /**
     * Opens and checks an archive: its directory, the header of each array, and the checksums of those that are stored
     * as they are.
     *
     * @param told the dtype of elements that numpy has no name for and stores as bytes, such as {@code bf16}, in all
     *     members that have such; null if there are none
     */
    static NpzStore open(Location path, DType told, DecodeLimit limit) throws IOException {
        return Mapping.open(path, file -> new NpzStore(file, told, limit));
    }

    /** The arrays among the members, which are known by their first bytes, as numpy knows them. */
    private List<Part> parts(DType told) throws IOException {
        List<Part> found = new ArrayList<>();
        Set<String> names = new HashSet<>();
        int blocks = 0;
        for (ZipMember member : members) {
            boolean isNamed = member.name().endsWith(ENDING);
            byte[] head = member.head(file, NpyArray.MAX_HEADER_BYTES);
            if (!isNamed && !NpyArray.isNpy(head)) {
                continue;
            }
            String name = isNamed ? member.name().substring(0, member.name().length() - ENDING.length())
                    : member.name();
            if (!names.add(name)) {
                throw new MalformedStoreException(file.location(), "two members for the array '" + name + "'", "one");
            }
            NpyArray array = NpyArray.read(file.location(), member.inWords(), MemorySegment.ofArray(head),
                    member.byteSize(), told);
            if (member.method() == ZipMember.STORED) {
                member.check(file);
            }
            if (!array.isInPlace() && array.dataBytes() > DecodedBlocks.MAX_BLOCK_BYTES) {
                throw new MalformedStoreException(file.location(), member.inWords() + " has " + array.dataBytes()
                        + " bytes, big-endian or in Fortran order", "at most " + DecodedBlocks.MAX_BLOCK_BYTES
                        + " of such, which are converted in memory");
            }
            boolean isView = member.method() == ZipMember.STORED && array.isInPlace();
            found.add(new Part(member, array, array.spec(name), isView ? -1 : blocks++));
        }
        if (found.isEmpty() && !members.isEmpty()) {
            throw new MalformedStoreException(file.location(), "a zip archive of " + members.size()
                    + " files, none of them an array", "members in the format of .npy");
        }
        return found;
    }

    private void decode(Part part, Output output) throws IOException {
        try {
            if (part.array.isInPlace()) {
                part.member.read(file, part.array.dataOffset(), part.array.dataBytes(), output);
            } else {
                decodeAndConvert(part, output);
            }
            file.checkUnchanged();
        } catch (InternalError fault) {
            throw file.explain(fault);
        }
    }

    private void decodeAndConvert(Part part, Output output) throws IOException {
        long bytes = part.array.dataBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stored = arena.allocate(bytes, Long.BYTES);
            part.member.read(file, part.array.dataOffset(), bytes, new Output() {
                private long at;

                @Override
                public void put(byte[] chunk, int offset, int length) {
                    MemorySegment.copy(chunk, offset, stored, ValueLayout.JAVA_BYTE, at, length);
                    at += length;
                }
            });
            MemorySegment converted = arena.allocate(bytes, Long.BYTES);
            part.array.convert(stored, converted);
            DecodedBlocks.put(converted, output);
        }
    }

    @Override
    public List<TensorSpec> tensors() {
        return specs;
    }

    @Override
    public Tensor tensor(int index) {
        Part part = parts.get(index);
        return part.array.tensor(part.block >= 0 ? copies.block(part.block)
                : file.segment().asSlice(part.dataOffset(), part.array.dataBytes()));
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Part part = parts.get(index);
        long rowCount = part.spec.rank() == 0 ? 1 : part.spec.dim(0);
        if (firstRow < 0 || rows < 0 || rows > rowCount - firstRow) {
            throw new IndexOutOfBoundsException(file.location() + ": rows from " + firstRow + ", " + rows
                    + " of them, are not within the 0 to " + rowCount + " of array '" + part.spec.name() + "'");
        }
        long rowBytes = part.spec.rowBytes();
        if (part.block >= 0) {
            copies.locate(part.block, firstRow * rowBytes, rows * rowBytes, into);
        } else {
            into.set(file, part.dataOffset() + firstRow * rowBytes, rows * rowBytes);
        }
    }

    @Override
    public boolean isConverted(int index) {
        return parts.get(index).block >= 0;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = "npz:tensors=" + parts.size() + ":sha256=" + new Fingerprint().add(file).hex();
        }
        return fingerprint;
    }

    /** Decodes what is deflated only if digests are wanted. */
    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        if (depth.digests()) {
            return TensorStore.super.inspect(depth, progress);
        }
        return new Inspection(file.location(), "npz", List.of(file.location()), details(), parts.stream()
                .map(part -> new Inspection.Array(part.spec.name(), part.spec.dtype(), part.array.storedDtype(),
                        LongStream.of(part.spec.shape()).boxed().toList(), part.array.storedOrder(),
                        part.array.dataBytes(), null, null))
                .toList());
    }

    @Override
    public StoreInfo info() {
        List<StoredArray> arrays = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            arrays.add(new StoredArray(part.spec.name(), part.array.storedDtype(), part.array.storedOrder(),
                    tensor(i)));
        }
        return new StoreInfo("npz", List.of(file.location()), details(), arrays);
    }

    private Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("members", members.stream().map(NpzStore::describe).toList());
        details.put("converted", parts.stream().filter(part -> part.block >= 0).map(part -> part.spec.name()).toList());
        return details;
    }

    private static Map<String, Object> describe(ZipMember member) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", member.name());
        fields.put("method", member.method());
        fields.put("size", member.byteSize());
        fields.put("flags", member.flags());
        return fields;
    }

    @Override
    public void close() {
        if (copies != null) {
            copies.close();
        }
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + " (" + parts.size() + " arrays)";
    }
}
