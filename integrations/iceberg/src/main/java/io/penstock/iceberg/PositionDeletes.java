// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.lake.DeletedRows;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;

/** The files of positions of deleted rows of a snapshot. Each is read once, when the table is opened. */
final class PositionDeletes {

    /** The rows deleted from one data file. */
    private record Positions(long[] positions, String id) implements DeletedRows {

        @Override
        public long count() {
            return positions.length;
        }
    }

    private final Function<String, Location> at;
    private final Map<String, Map<String, long[]>> read = new HashMap<>();

    PositionDeletes(Function<String, Location> at) {
        this.at = at;
    }

    DeletedRows of(String dataFile, List<DeleteFile> files) throws IOException {
        LongStream all = LongStream.empty();
        List<String> names = new ArrayList<>();
        for (DeleteFile file : files) {
            Map<String, long[]> found = read.get(file.location());
            if (found == null) {
                found = read(file);
                read.put(file.location(), found);
            }
            all = LongStream.concat(all, Arrays.stream(found.getOrDefault(dataFile, new long[0])));
            names.add(file.location().substring(file.location().lastIndexOf('/') + 1));
        }
        names.sort(null);
        return new Positions(all.sorted().distinct().toArray(), String.join(",", names));
    }

    private Map<String, long[]> read(DeleteFile file) throws IOException {
        Location location = at.apply(file.location());
        if (file.format() != FileFormat.PARQUET) {
            throw new MalformedStoreException(location, "positions of deleted rows in " + file.format(),
                    "in Parquet, or a deletion vector");
        }
        Map<String, LongStream.Builder> found = new HashMap<>();
        try (RecordStore rows = RecordStore.open(location, OpenOptions.DEFAULT.withFormat("parquet"))) {
            List<String> columns = rows.columns().stream().map(Column::name).toList();
            int path = columns.indexOf("file_path");
            int position = columns.indexOf("pos");
            if (path < 0 || position < 0) {
                throw new MalformedStoreException(location, "the columns " + columns, "file_path and pos");
            }
            Span span = new Span();
            for (long row = 0; row < rows.size(); row++) {
                rows.locate(row, path, span);
                String of = new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
                rows.locate(row, position, span);
                found.computeIfAbsent(of, _ -> LongStream.builder()).add(span.slice().get(LittleEndian.I64, 0));
            }
        }
        Map<String, long[]> positions = new HashMap<>();
        found.forEach((of, builder) -> positions.put(of, builder.build().toArray()));
        return positions;
    }
}
