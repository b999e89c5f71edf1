package io.penstock.format.parquet;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.Mapping;
import io.penstock.format.arrow.ArrowField;
import io.penstock.format.arrow.EmbeddedSchema;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/** One file of a store: its mapping, its footer, and the columns that are read of it. */
final class ParquetPart implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ParquetPart.class.getName());
    private static final String ARROW_SCHEMA = "ARROW:schema";

    private final MappedFile file;
    private final DecodeLimit.Budget budget;
    private final FileMetadata metadata;
    private final Schema schema;

    private ParquetPart(MappedFile file, DecodeLimit limit) throws MalformedStoreException {
        this.file = file;
        this.budget = limit.budget(file.location(), file.byteSize());
        this.metadata = FileMetadata.read(file);
        this.schema = new Schema(metadata.root(), arrowFields());
        for (ParquetColumn column : List.copyOf(schema.columns())) {
            compressions(column).filter(compression -> !compression.isSupported()).findFirst().ifPresent(
                    compression -> schema.pass(column, "compressed with " + compression));
        }
        if (schema.columns().isEmpty()) {
            throw new MalformedStoreException(file.location(), "no column that can be read: " + schema.unread().stream()
                    .map(column -> column.name() + ": " + column.type() + " (" + column.reason() + ")").toList(),
                    "at least one");
        }
        for (RowGroup group : metadata.groups()) {
            for (ParquetColumn column : schema.columns()) {
                for (StoredLeaf leaf : column.stored()) {
                    check(group, column.column().name(), leaf, group.chunks().get(leaf.index()));
                }
            }
        }
    }

    private Stream<Compression> compressions(ParquetColumn column) {
        return metadata.groups().stream().flatMap(group -> column.stored().stream()
                .map(leaf -> group.chunks().get(leaf.index()).compression()));
    }

    static ParquetPart open(Location path, DecodeLimit limit) throws IOException {
        return Mapping.open(path, file -> new ParquetPart(file, limit));
    }

    /** What Arrow says beyond Parquet's own schema; a hint, which is passed over where it is none. */
    private List<ArrowField> arrowFields() {
        String encoded = metadata.properties().get(ARROW_SCHEMA);
        if (encoded == null) {
            return List.of();
        }
        try {
            return EmbeddedSchema.read(file.location(), Base64.getDecoder().decode(encoded));
        } catch (IllegalArgumentException | MalformedStoreException e) {
            LOG.log(System.Logger.Level.DEBUG, () -> file.location() + ": the schema of Arrow is passed over: " + e);
            return List.of();
        }
    }

    private void check(RowGroup group, String name, StoredLeaf leaf, ColumnChunk chunk)
            throws MalformedStoreException {
        boolean isList = leaf.maxRepetition() > 0;
        if (isList ? chunk.values() < group.rows() : chunk.values() != group.rows()) {
            throw new MalformedStoreException(file.location(), "column '" + name + "' with " + chunk.values()
                    + " values in a row group", group.rows() + ", as the row group has rows"
                    + (isList ? ", or more" : ""));
        }
    }

    MappedFile file() {
        return file;
    }

    /** What the file's columns may still decode to. */
    DecodeLimit.Budget budget() {
        return budget;
    }

    FileMetadata metadata() {
        return metadata;
    }

    Schema schema() {
        return schema;
    }

    List<ParquetColumn> columns() {
        return schema.columns();
    }

    @Override
    public void close() {
        file.close();
    }
}
