// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a table as lines of JSON, so that what reads lines reads tables: a row's members are its columns of text,
 * numbers and nested values. Columns of other bytes, such as images, and what a row lacks are no members.
 */
final class TableLines extends InputStream {

    private static final String JSON = "json";
    private static final int LEAST_BYTES = 1 << 16;

    private final RecordStore table;
    private final SpanReader reader = new SpanReader(ReadMode.AUTO);
    private final Span span = new Span();
    private final long storedBytes;
    private final LongConsumer stored;
    private Arena arena = Arena.ofShared();
    private MemorySegment copy = arena.allocate(LEAST_BYTES);
    private long next;
    private byte[] line = {};
    private int at;

    private TableLines(RecordStore table, long storedBytes, LongConsumer stored) {
        this.table = table;
        this.storedBytes = storedBytes;
        this.stored = stored;
    }

    /**
     * Opens a table.
     *
     * @param path its file
     * @param storedBytes the file's size
     * @param stored receives how much of that is read, as rows are
     */
    static TableLines open(Path path, long storedBytes, LongConsumer stored) throws IOException {
        return new TableLines(RecordStore.open(path), storedBytes, stored);
    }

    @Override
    public int read() {
        return available() == 0 ? -1 : line[at++] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
        int count = Math.min(length, available());
        System.arraycopy(line, at, into, offset, count);
        at += count;
        return count == 0 && length > 0 ? -1 : count;
    }

    /** The bytes of the present row that are left, or of the next one; 0 behind the last. */
    @Override
    public int available() {
        if (at == line.length && next < table.size()) {
            line = (row(next) + "\n").getBytes(StandardCharsets.UTF_8);
            at = 0;
            next++;
            stored.accept(storedBytes * next / table.size() - storedBytes * (next - 1) / table.size());
        }
        return line.length - at;
    }

    private String row(long record) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        List<Column> columns = table.columns();
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            if (isRead(column) && table.isPresent(record, i)) {
                table.locate(record, i, span);
                long bytes = span.byteSize();
                if (bytes > copy.byteSize()) {
                    arena.close();
                    arena = Arena.ofShared();
                    copy = arena.allocate(Math.max(bytes, 2 * copy.byteSize()));
                }
                reader.copy(span, copy, 0);
                members.put(column.name(), value(column, copy.asSlice(0, bytes)));
            }
        }
        return Json.write(members);
    }

    private static boolean isRead(Column column) {
        return column.kind() != Column.Kind.BYTES || column.encoding().equals(JSON);
    }

    private static @Nullable Object value(Column column, MemorySegment bytes) {
        if (column.kind() == Column.Kind.NUMBERS) {
            return numbers(column.spec(), bytes);
        }
        byte[] text = bytes.toArray(ValueLayout.JAVA_BYTE);
        return column.encoding().equals(JSON) ? Json.parse(text) : new String(text, StandardCharsets.UTF_8);
    }

    /** Returns a number, or a list of them; null in place of one that JSON does not have. */
    private static @Nullable Object numbers(TensorSpec spec, MemorySegment bytes) {
        long count = bytes.byteSize() / spec.dtype().byteSize();
        Tensor tensor = Tensor.of(bytes, spec.dtype(), count);
        List<@Nullable Object> all = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            all.add(spec.dtype() == DType.BOOL ? (Object) (tensor.getLong(i) != 0)
                    : !spec.dtype().isFloat() ? (Object) tensor.getLong(i)
                    : Double.isFinite(tensor.getDouble(i)) ? (Object) tensor.getDouble(i) : null);
        }
        return spec.rank() == 0 ? all.getFirst() : all;
    }

    @Override
    public void close() throws IOException {
        reader.close();
        arena.close();
        table.close();
    }
}
