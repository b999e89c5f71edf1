package io.penstock.format.parquet;

import io.penstock.format.TableInspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What {@code inspect} says of Parquet files: schema, row groups, how columns are stored, and the table. */
final class ParquetDetails {

    private ParquetDetails() {
    }

    static Map<String, Object> of(RecordStore store, List<ParquetPart> parts, boolean digest, Progress progress) {
        ParquetPart first = parts.getFirst();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("schema", first.schema().lines());
        Map<String, Object> parquet = new LinkedHashMap<>();
        parquet.put("row_groups", parts.stream().flatMap(part -> part.metadata().groups().stream())
                .map(RowGroup::rows).toList());
        parquet.put("created_by", first.metadata().createdBy());
        parquet.put("format_version", first.metadata().version() == 1 ? "1.0" : "2.6");
        parquet.put("column_chunks", first.metadata().groups().stream().findFirst()
                .map(group -> group.chunks().stream().map(ParquetDetails::describe).toList()).orElse(List.of()));
        details.put("parquet", parquet);
        details.put("converted", true);
        List<String> storedTypes = first.columns().stream().map(ParquetColumn::storedType).toList();
        long totalBytes = parts.stream().mapToLong(part -> part.file().byteSize()).sum();
        Map<String, Object> table = TableInspection.of(store, null, storedTypes, digest, progress, totalBytes);
        if (!first.schema().unread().isEmpty()) {
            table.put("unsupported", first.schema().unread().stream().map(ParquetDetails::describe).toList());
        }
        details.put("table", table);
        return details;
    }

    private static Map<String, Object> describe(Schema.Unread column) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("name", column.name());
        map.put("type", column.type());
        map.put("reason", column.reason());
        return map;
    }

    private static Map<String, Object> describe(ColumnChunk chunk) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("path", String.join(".", chunk.path()));
        map.put("physical", chunk.physical().toString());
        // As Arrow names it, which reads the framing of Hadoop under the same name.
        map.put("compression", chunk.compression() == Compression.LZ4_RAW ? "LZ4" : chunk.compression().toString());
        map.put("encodings", chunk.encodings().stream().map(Encoding::toString).sorted().distinct().toList());
        return map;
    }
}
