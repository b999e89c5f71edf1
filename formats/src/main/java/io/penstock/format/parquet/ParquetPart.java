// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowField;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** One file of a store: what is kept of it while it is not open. {@link ParquetFiles} opens it. */
final class ParquetPart {

    /** An open file, with its footer. */
    record Open(MappedFile file, FileMetadata metadata) {
    }

    private static final System.Logger LOG = System.getLogger(ParquetPart.class.getName());
    private static final String ARROW_SCHEMA = "ARROW:schema";

    private final Location location;
    private final long byteSize;
    private final String version;
    private final Schema schema;
    private final boolean isRemote;
    private final long[] rows;
    private DecodeLimit.@Nullable Budget budget;
    /** Guarded by this: the open file, and how many read it. */
    volatile @Nullable Open open;
    int users;

    /** Creates a part that is open; {@code schema} has the columns that are read. */
    ParquetPart(Location location, long byteSize, String version, Schema schema, Open open) {
        this.location = location;
        this.byteSize = byteSize;
        this.version = version;
        this.schema = schema;
        this.isRemote = open.file().isRemote();
        this.rows = open.metadata().groups().stream().mapToLong(RowGroup::rows).toArray();
        this.open = open;
    }

    /** Creates a part that is not open, of which an index says the rows of its row groups. */
    ParquetPart(Location location, FooterIndex.Entry known, Schema schema) {
        this.location = location;
        this.byteSize = known.byteSize();
        this.version = known.version();
        this.schema = schema;
        this.isRemote = false;
        this.rows = known.rows();
    }

    Location location() {
        return location;
    }

    long byteSize() {
        return byteSize;
    }

    String version() {
        return version;
    }

    Schema schema() {
        return schema;
    }

    boolean isRemote() {
        return isRemote;
    }

    /** Returns the number of rows of each row group. */
    long[] rows() {
        return rows;
    }

    List<ParquetColumn> columns() {
        return schema.columns();
    }

    synchronized DecodeLimit.Budget budget(DecodeLimit limit) {
        DecodeLimit.Budget found = budget;
        if (found == null) {
            found = limit.budget(location, byteSize);
            budget = found;
        }
        return found;
    }

    static String arrowSchema(Open open) {
        return open.metadata().properties().getOrDefault(ARROW_SCHEMA, "");
    }

    /** Returns the fields of Arrow's own schema, which has more than Parquet's; none if it is missing or unreadable. */
    static List<ArrowField> arrowFields(Open open) {
        String encoded = arrowSchema(open);
        if (encoded.isEmpty()) {
            return List.of();
        }
        Location location = open.file().location();
        try {
            return ArrowField.readAll(location, Base64.getDecoder().decode(encoded));
        } catch (IllegalArgumentException | MalformedStoreException e) {
            LOG.log(System.Logger.Level.DEBUG, () -> location + ": the schema of Arrow is passed over: " + e);
            return List.of();
        }
    }

    /** Excludes columns of an unsupported compression from a schema; returns them. */
    static Set<String> pass(Open open, Schema schema) {
        Set<String> passed = new TreeSet<>();
        for (ParquetColumn column : List.copyOf(schema.columns())) {
            open.metadata().groups().stream().flatMap(group -> column.leaves().stream()
                    .map(leaf -> group.chunks().get(leaf.index()).compression()))
                    .filter(compression -> !compression.isSupported()).findFirst()
                    .ifPresent(compression -> {
                        schema.pass(column, "compressed with " + compression);
                        passed.add(column.column().name() + " " + compression);
                    });
        }
        return passed;
    }

    /** Checks that a footer is the one that was read when the store was opened, or that an index has. */
    void checkSame(Open open) {
        long[] found = open.metadata().groups().stream().mapToLong(RowGroup::rows).toArray();
        if (!Arrays.equals(found, rows) || !open.metadata().root().equals(schema.root())) {
            throw new MalformedStoreException(location, "another schema, or row groups of " + Arrays.toString(found)
                    + " rows", Arrays.toString(rows) + ", as it had, or as the index beside its folder says ("
                    + FooterIndex.ENDING + ": remove it if the file is right)");
        }
    }

    /** Checks the number of values of the columns. */
    void check(Open open) {
        if (columns().isEmpty()) {
            throw new MalformedStoreException(location, "no column that can be read: " + schema.unread(),
                    "at least one");
        }
        for (RowGroup group : open.metadata().groups()) {
            for (ParquetColumn column : columns()) {
                for (Leaf leaf : column.leaves()) {
                    long values = group.chunks().get(leaf.index()).values();
                    boolean isList = leaf.maxRepetition() > 0;
                    if (isList ? values < group.rows() : values != group.rows()) {
                        throw new MalformedStoreException(location, "column '" + column.column().name()
                                + "' with " + values + " values in a row group", group.rows()
                                + ", as the row group has rows" + (isList ? ", or more" : ""));
                    }
                }
            }
        }
    }
}
