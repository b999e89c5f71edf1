// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import io.penstock.memory.TensorSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A dataset as its object header describes it.
 *
 * @param fill the bytes of an element that was never written; null for zeros
 * @param tensor its tensor's spec; null if it is unsupported
 * @param refusal why it is unsupported; null if it is supported
 */
record StoredDataset(String name, Datatype type, Dataspace dataspace, Layout layout, List<Filter> filters,
        byte @Nullable [] fill, @Nullable TensorSpec tensor, @Nullable String refusal) {

    TensorSpec spec() {
        return Objects.requireNonNull(tensor, name);
    }

    static boolean isDataset(ObjectHeader header) {
        return header.has(Message.DATASPACE) && header.has(Message.DATATYPE) && header.has(Message.LAYOUT);
    }

    static StoredDataset read(AddressSpace space, ObjectHeader header, String name) {
        Datatype type = Datatype.read(header.open(Message.DATATYPE, "datatype of " + name));
        Dataspace dataspace = Dataspace.read(header.open(Message.DATASPACE, "dataspace of " + name));
        Layout layout = Layout.read(header.open(Message.LAYOUT, "layout of " + name));
        Cursor pipeline = header.openIfThere(Message.FILTERS, "filters of " + name);
        List<Filter> filters = pipeline == null ? List.of() : Filter.read(pipeline);
        String refusal = dataspace.isNull() ? "it has a null dataspace"
                : type.kind() != Datatype.Kind.NUMBER ? "its elements are " + type.name()
                : refusal(header, layout, filters);
        if (refusal != null) {
            return new StoredDataset(name, type, dataspace, layout, filters, null, null, refusal);
        }
        byte[] fill = FillValue.read(header, type.byteSize());
        TensorSpec spec = spec(space, header, name, type, dataspace);
        StoredDataset dataset = new StoredDataset(name, type, dataspace, layout, filters, fill, spec, null);
        dataset.check(space, header);
        return dataset;
    }

    private static TensorSpec spec(AddressSpace space, ObjectHeader header, String name, Datatype type,
            Dataspace dataspace) {
        long[] shape = LongStream.concat(LongStream.of(dataspace.shape()), LongStream.of(type.dims())).toArray();
        try {
            return new TensorSpec(name, type.number(), shape);
        } catch (IllegalArgumentException e) {
            throw space.malformed(space.position(header.address(), 0, name), String.valueOf(e.getMessage()),
                    "a tensor of less than 2^63 bytes");
        }
    }

    private static @Nullable String refusal(ObjectHeader header, Layout layout, List<Filter> filters) {
        if (layout instanceof Layout.Virtual) {
            return "it is a virtual dataset, whose elements are in other datasets";
        }
        if (header.has(Message.EXTERNAL_FILES)) {
            return "its elements are in external files";
        }
        return layout instanceof Layout.Chunked
                ? filters.stream().filter(filter -> !filter.isRead()).findFirst()
                        .map(filter -> "the filter " + filter.name() + " is not supported").orElse(null)
                : null;
    }

    private void check(AddressSpace space, ObjectHeader header) {
        long there = switch (layout) {
            case Layout.Compact compact -> compact.byteSize();
            case Layout.Contiguous piece when piece.address() != AddressSpace.UNDEFINED && piece.byteSize() >= 0 ->
                piece.byteSize();
            default -> storedBytes();
        };
        if (there < storedBytes()) {
            throw space.malformed(space.position(header.address(), 0, name), name + " with " + there + " bytes of data",
                    storedBytes() + " for " + tensor);
        }
        if (layout instanceof Layout.Contiguous piece && piece.address() != AddressSpace.UNDEFINED) {
            space.position(piece.address(), storedBytes(), "the data of " + name);
        }
        if (layout instanceof Layout.Chunked chunked) {
            long[] chunk = chunked.chunk();
            if (chunk.length != dataspace.shape().length + 1 || chunk[chunk.length - 1] != type.byteSize()) {
                throw space.malformed(space.position(header.address(), 0, name), "chunks of " + (chunk.length - 1)
                        + " dimensions and " + chunk[chunk.length - 1] + " bytes an element in " + name,
                        dataspace.shape().length + " dimensions and " + type.byteSize() + " bytes");
            }
        }
    }

    long storedBytes() {
        return type.storedBytes(spec().byteSize());
    }

    ChunkGrid grid() {
        long[] chunk = ((Layout.Chunked) layout).chunk();
        return new ChunkGrid(dataspace.shape(), dataspace.maxShape(), LongStream.of(chunk).limit(chunk.length - 1)
                .toArray(), type.byteSize());
    }

    /** Returns the offset in the file of the elements if they are stored as a tensor has them, otherwise -1. */
    long inPlace(AddressSpace space) {
        if (spec().byteSize() == 0) {
            return 0;
        }
        if (type.isBigEndian() || type.isWidened()) {
            return -1;
        }
        return switch (layout) {
            case Layout.Compact compact -> compact.position();
            case Layout.Contiguous piece when piece.address() != AddressSpace.UNDEFINED ->
                space.position(piece.address(), spec().byteSize(), name);
            default -> -1;
        };
    }

    /** Returns the format's own fields for inspection. */
    Map<String, @Nullable Object> details() {
        Map<String, @Nullable Object> details = new LinkedHashMap<>();
        details.put("layout", layout.name());
        if (layout instanceof Layout.Chunked) {
            details.put("chunks", LongStream.of(grid().chunk()).boxed().toList());
            details.put("filters", filters.stream().map(Filter::name).toList());
        }
        long[] max = dataspace.maxShape();
        if (!LongStream.of(max).boxed().toList().equals(LongStream.of(dataspace.shape()).boxed().toList())) {
            List<@Nullable Object> limits = new ArrayList<>();
            for (long limit : max) {
                limits.add(limit < 0 ? null : limit);
            }
            details.put("maxshape", limits);
        }
        return details;
    }
}
