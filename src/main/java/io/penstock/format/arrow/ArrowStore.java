// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.Fingerprint;
import io.penstock.format.TableInspection;
import io.penstock.format.UnreadColumn;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of Arrow IPC files or streams of one schema, in order. Values are views of the mapped files at any
 * alignment, unless their buffer is compressed or holds booleans, which are stored as bits: such a buffer is decoded
 * when a value in it is first located. Values that are neither numbers nor bytes nor text are given as JSON, written
 * for some rows at a time when one of them is located.
 *
 * <p>Opening reads the metadata of every batch and checks all sizes; it reads nothing per row. A row is found in O(1):
 * its batch by an index, its value by its number or by two offsets, which are checked then.
 */
final class ArrowStore implements RecordStore {

    private final Location path;
    private final List<MappedFile> files;
    private final DecodedBuffers decoded;
    private final ArrowTable table;
    private final List<Column> columns;
    private final ArrowColumn[] byIndex;
    private final long size;
    private volatile @Nullable String fingerprint;

    private ArrowStore(Location path, List<MappedFile> files, DecodedBuffers decoded) throws IOException {
        this.path = path;
        this.files = files;
        this.decoded = decoded;
        this.table = ArrowTable.read(files, decoded);
        this.byIndex = table.columns().toArray(ArrowColumn[]::new);
        this.columns = table.columns().stream().map(column -> column.shape().column()).toList();
        this.size = table.rows().batches().total();
        if (columns.isEmpty()) {
            throw new MalformedStoreException(path, "no column that can be read: " + table.unread(), "at least one");
        }
    }

    /**
     * Opens a file or stream, or a folder of several; {@code member} is the wanted split, null if the folder has one.
     */
    static ArrowStore open(Location path, @Nullable String member, DecodeLimit limit) throws IOException {
        List<MappedFile> files = new ArrayList<>();
        DecodedBuffers decoded = new DecodedBuffers();
        try {
            for (Location file : ArrowFiles.of(path, member)) {
                files.add(file.open());
            }
            ArrowStore store = new ArrowStore(path, List.copyOf(files), decoded);
            decoded.freeze(path, limit, store.storedBytes());
            return store;
        } catch (UncheckedIOException e) {
            files.forEach(MappedFile::close);
            throw e.getCause();
        } catch (Throwable t) {
            files.forEach(MappedFile::close);
            throw t;
        }
    }

    private long storedBytes() {
        return files.stream().mapToLong(MappedFile::byteSize).sum();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    @Override
    public Map<String, String> unreadColumns() {
        return UnreadColumn.reasons(table.unread());
    }

    @Override
    public boolean isPresent(long record, int column) {
        Objects.checkIndex(record, size);
        return byIndex[column].isPresent(record);
    }

    @Override
    public void locate(long record, int column, Span into) {
        if (record < 0 || record >= size) {
            throw new IndexOutOfBoundsException(path + ": row " + record + " is not within 0 to " + size);
        }
        byIndex[column].locate(record, into);
    }

    @Override
    public boolean isConverted(int column) {
        return byIndex[column].isConverted();
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) {
        Map<String, @Nullable Object> details = Json.members("container",
                ArrowFile.hasFooter(files.getFirst()) ? "file" : "stream");
        PrefixSums batches = table.rows().batches();
        if (files.getFirst().location().equals(path)) {
            details.put("batch_rows", IntStream.range(0, batches.runs()).mapToObj(batches::length).toList());
        } else {
            details.put("shards", IntStream.range(0, files.size()).mapToObj(f -> {
                return Json.members("path", files.get(f).location().toString(), "rows", table.fileRows().get(f));
            }).toList());
        }
        Map<String, @Nullable Object> content = TableInspection.of(this, table.schema(),
                table.columns().stream().map(column -> column.shape().storedType()).toList(), depth.digests(), progress,
                storedBytes());
        UnreadColumn.describe(table.unread(), content);
        details.put("table", content);
        return new Inspection(path, "arrow", files.stream().map(MappedFile::location).toList(), details);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            files.forEach(sample::add);
            fingerprint = "arrow:rows=" + size + ":columns=" + columns.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    @Override
    public void close() {
        decoded.close();
        files.forEach(MappedFile::close);
    }

    @Override
    public String toString() {
        return path + " (" + size + " rows of " + columns + ")";
    }
}
