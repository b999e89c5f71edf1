// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.NdarrayValue;
import io.penstock.format.RecordDigest;
import io.penstock.internal.Sha256;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.StoredArray;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Describes a dataset: its shards and, for each column, the digests of the values as stored. */
final class MdsInspection {

    /** The most samples for which the shape of each value is listed. */
    private static final long MAX_SHAPES = 1 << 16;
    /** The longest first value of a text column that is shown. */
    private static final long MAX_TEXT_BYTES = 1 << 16;
    private static final long PROGRESS_BYTES = 1 << 20;

    private final MdsStore store;
    private final long totalBytes;
    private long done;
    private long shown;

    MdsInspection(MdsStore store) {
        this.store = store;
        this.totalBytes = store.index().shards().stream().mapToLong(shard -> shard.raw().bytes()).sum();
    }

    Map<String, @Nullable Object> details(boolean digest, Progress progress) {
        Map<String, @Nullable Object> details = Json.members("samples", store.size(),
                "shards", store.index().shards().stream().map(MdsInspection::describe).toList());
        List<Object> columns = new ArrayList<>();
        for (int column = 0; column < store.columns().size(); column++) {
            columns.add(describe(column, digest, progress));
        }
        details.put("columns", columns);
        if (!store.unreadColumns().isEmpty()) {
            details.put("unsupported", store.unreadColumns());
        }
        return details;
    }

    private static Map<String, @Nullable Object> describe(MdsShard shard) {
        return Json.members("samples", shard.samples(), "raw", shard.raw().name(),
                "zip", shard.zip() == null ? null : shard.zip().name(), "hashes", shard.hashes(),
                "compression", shard.compression());
    }

    private Map<String, @Nullable Object> describe(int position, boolean digest, Progress progress) {
        Column column = store.columns().get(position);
        MdsEncoding encoding = store.encoding(position);
        Map<String, @Nullable Object> map = Json.members("column", column.name(), "encoding", encoding.text());
        if (!digest) {
            if (encoding.isNumbers()) {
                map.put("array", array(column, null));
            }
            return map;
        }
        RecordDigest records = new RecordDigest();
        RecordDigest elements = encoding.isNumbers() ? new RecordDigest() : null;
        Values shapes = encoding.isDynamicArray() ? new Values(encoding.dtype()) : null;
        Span value = new Span();
        long bytes = 0;
        for (long sample = 0; sample < store.size(); sample++) {
            if (!store.isPresent(sample, position)) {
                continue;
            }
            store.locate(sample, position, value);
            records.add(value);
            bytes += value.byteSize();
            if (elements != null) {
                elements.addBytes(value);
            }
            if (shapes != null) {
                shapes.add(sample, value);
            }
            report(value.byteSize(), progress);
        }
        map.put("record_digest", records.hex());
        map.put("bytes_total", bytes);
        if (store.size() > 0 && store.isPresent(0, position)) {
            store.locate(0, position, value);
            MemorySegment first = value.slice();
            map.put("first_sha256", Sha256.hex(first, _ -> { }));
            if (encoding.isText() && value.byteSize() <= MAX_TEXT_BYTES) {
                map.put("first_text", new String(first.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
            }
        }
        if (elements != null) {
            map.put("array", array(column, elements.hex()));
        }
        if (shapes != null) {
            shapes.describe(column.name(), map);
        }
        return map;
    }

    private void report(long bytes, Progress progress) {
        done += bytes;
        if (done - shown >= PROGRESS_BYTES) {
            shown = done;
            progress.update(Math.min(done, totalBytes), totalBytes);
        }
    }

    private Map<String, @Nullable Object> array(Column column, @Nullable String sha256) {
        TensorSpec spec = column.spec();
        List<Long> shape = LongStream.concat(LongStream.of(store.size()), LongStream.of(spec.shape())).boxed().toList();
        return array(column.name(), spec.dtype(), shape, store.size() * spec.byteSize(), sha256);
    }

    private static Map<String, @Nullable Object> array(String name, DType dtype, List<Long> shape, long bytes,
            @Nullable String sha256) {
        return new Inspection.Array(name, dtype, StoredArray.storedDtypeOf(dtype), shape, null, bytes, sha256, null)
                .toMap();
    }

    /** The values of a column of arrays with their own shapes. */
    private final class Values {

        private final @Nullable DType known;
        private final NdarrayValue value = new NdarrayValue();
        private final Span elements = new Span();
        private final RecordDigest digest = new RecordDigest();
        private final List<List<Long>> shapes = new ArrayList<>();
        private final TreeSet<String> dtypes = new TreeSet<>();
        private @Nullable DType dtype;
        private long bytes;

        Values(@Nullable DType known) {
            this.known = known;
        }

        void add(long sample, Span stored) {
            try {
                value.read(stored.segment(), stored.byteOffset(), stored.byteSize(), known);
            } catch (CodecException e) {
                throw new MalformedStoreException(store.index().file(), "sample " + sample + " (" + store.name(sample)
                        + "): " + e.getMessage(), "type, shape and elements of an array");
            }
            if (shapes.size() < MAX_SHAPES) {
                shapes.add(LongStream.of(value.shape()).boxed().toList());
            }
            dtype = value.dtype();
            dtypes.add(MdsEncoding.numpyName(value.dtype()));
            elements.setPart(stored, value.dataOffset() - stored.byteOffset(), value.dataBytes());
            digest.addBytes(elements);
            bytes += value.dataBytes();
        }

        void describe(String name, Map<String, @Nullable Object> map) {
            if (dtype != null && dtypes.size() == 1) {
                map.put("values", array(name, dtype, List.of(bytes / dtype.byteSize()), bytes, digest.hex()));
            }
            if (store.size() <= MAX_SHAPES) {
                map.put("shapes", shapes);
            }
            map.put("dtypes", List.copyOf(dtypes));
        }
    }
}
