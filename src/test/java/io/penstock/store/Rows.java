// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The values of a record store as JSON has them, to compare them with what another library reads. */
public final class Rows {

    private Rows() {
    }

    /** The values of each column: null, numbers, texts, bytes in hexadecimal digits, and what JSON texts hold. */
    public static Map<String, List<Object>> of(RecordStore store) {
        Map<String, List<Object>> columns = new LinkedHashMap<>();
        for (Column column : store.columns()) {
            columns.put(column.name(), column(store, column.name()));
        }
        return columns;
    }

    /** The values of one column. */
    public static List<Object> column(RecordStore store, String name) {
        List<String> names = store.columns().stream().map(Column::name).toList();
        int index = names.indexOf(name);
        List<Object> values = new ArrayList<>();
        Span span = new Span();
        for (long row = 0; row < store.size(); row++) {
            if (!store.isPresent(row, index)) {
                values.add(null);
                continue;
            }
            store.locate(row, index, span);
            values.add(value(store.columns().get(index), span));
        }
        return values;
    }

    private static Object value(Column column, Span span) {
        byte[] bytes = span.slice().toArray(ValueLayout.JAVA_BYTE);
        switch (column.kind()) {
            case TEXT -> {
                String text = new String(bytes, StandardCharsets.UTF_8);
                return column.encoding().equals("json") ? Json.parse(text) : text;
            }
            case BYTES -> {
                return HexFormat.of().formatHex(bytes);
            }
            default -> { }
        }
        Tensor numbers = Tensor.of(span.slice(), column.spec().dtype(), bytes.length / column.spec().dtype()
                .byteSize());
        List<Object> all = new ArrayList<>();
        for (long i = 0; i < numbers.elementCount(); i++) {
            boolean isWhole = column.spec().dtype().isInteger();
            all.add(isWhole ? (Object) numbers.getLong(i) : (Object) numbers.getDouble(i));
        }
        return column.spec().rank() == 0 ? all.getFirst() : all;
    }
}
