// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.arrow.ArrowField;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.util.Base64;
import java.util.List;

/**
 * One file of a store.
 *
 * @param budget what its columns may still decode to
 * @param schema the columns that are read
 */
record ParquetPart(MappedFile file, DecodeLimit.Budget budget, FileMetadata metadata, Schema schema)
        implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ParquetPart.class.getName());
    private static final String ARROW_SCHEMA = "ARROW:schema";

    static ParquetPart open(Location path, DecodeLimit limit) throws IOException {
        return Mapping.open(path, file -> {
            FileMetadata metadata = FileMetadata.read(file);
            ParquetPart part = new ParquetPart(file, limit.budget(file.location(), file.byteSize()), metadata,
                    new Schema(metadata.root(), arrowFields(file, metadata)));
            part.check();
            return part;
        });
    }

    /** Returns the fields of Arrow's own schema, which has more than Parquet's; none if it is missing or unreadable. */
    private static List<ArrowField> arrowFields(MappedFile file, FileMetadata metadata) {
        String encoded = metadata.properties().get(ARROW_SCHEMA);
        if (encoded == null) {
            return List.of();
        }
        try {
            return ArrowField.readAll(file.location(), Base64.getDecoder().decode(encoded));
        } catch (IllegalArgumentException | MalformedStoreException e) {
            LOG.log(System.Logger.Level.DEBUG, () -> file.location() + ": the schema of Arrow is passed over: " + e);
            return List.of();
        }
    }

    /** Excludes columns of an unsupported compression, and checks the number of values of the others. */
    private void check() {
        for (ParquetColumn column : List.copyOf(columns())) {
            metadata.groups().stream().flatMap(group -> column.leaves().stream()
                    .map(leaf -> group.chunks().get(leaf.index()).compression()))
                    .filter(compression -> !compression.isSupported()).findFirst()
                    .ifPresent(compression -> schema.pass(column, "compressed with " + compression));
        }
        if (columns().isEmpty()) {
            throw new MalformedStoreException(file.location(), "no column that can be read: " + schema.unread(),
                    "at least one");
        }
        for (RowGroup group : metadata.groups()) {
            for (ParquetColumn column : columns()) {
                for (Leaf leaf : column.leaves()) {
                    long values = group.chunks().get(leaf.index()).values();
                    boolean isList = leaf.maxRepetition() > 0;
                    if (isList ? values < group.rows() : values != group.rows()) {
                        throw new MalformedStoreException(file.location(), "column '" + column.column().name()
                                + "' with " + values + " values in a row group", group.rows()
                                + ", as the row group has rows" + (isList ? ", or more" : ""));
                    }
                }
            }
        }
    }

    List<ParquetColumn> columns() {
        return schema.columns();
    }

    @Override
    public void close() {
        file.close();
    }
}
