// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.lake.DataFile;
import io.penstock.lake.TableColumn;
import io.penstock.lake.ValueType;
import io.penstock.lake.ValueType.Kind;
import io.penstock.lake.Values;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/** The columns of an Iceberg schema, with the ids that data files have for them. */
final class IcebergColumns {

    /** The columns by whose values, unchanged, a specification of the table partitions it: their ids, ascending. */
    private final List<Integer> identities;
    private final Map<Integer, PartitionSpec> specs;
    private final List<TableColumn> columns = new ArrayList<>();

    IcebergColumns(Table table, Schema schema) {
        this.specs = table.specs();
        TreeSet<Integer> found = new TreeSet<>();
        for (PartitionSpec spec : specs.values()) {
            spec.fields().stream().filter(field -> field.transform().isIdentity()).map(PartitionField::sourceId)
                    .forEach(found::add);
        }
        this.identities = List.copyOf(found);
        add(schema.columns(), "");
    }

    List<TableColumn> columns() {
        return columns;
    }

    private void add(List<Types.NestedField> fields, String prefix) {
        for (Types.NestedField field : fields) {
            String name = prefix + field.name();
            if (field.type().isStructType()) {
                add(field.type().asStructType().fields(), name + ".");
                continue;
            }
            ValueType type = type(field.type(), name);
            Object absent = field.initialDefault();
            TableColumn column = new TableColumn(name, type, name, field.fieldId(),
                    identities.indexOf(field.fieldId()), Map.of());
            columns.add(absent == null ? column : column.withAbsent(value(absent, type)));
        }
    }

    private static ValueType type(Type type, String name) {
        return switch (type.typeId()) {
            case BOOLEAN -> ValueType.of(Kind.BOOL);
            case INTEGER -> ValueType.of(Kind.I32);
            case LONG -> ValueType.of(Kind.I64);
            case FLOAT -> ValueType.of(Kind.F32);
            case DOUBLE -> ValueType.of(Kind.F64);
            case DATE -> ValueType.of(Kind.DATE);
            case TIME -> ValueType.of(Kind.TIME);
            case TIMESTAMP -> ValueType.of(Kind.TIMESTAMP);
            case TIMESTAMP_NANO -> ValueType.of(Kind.TIMESTAMP_NANOS);
            case DECIMAL -> ValueType.decimal(((Types.DecimalType) type).scale());
            case STRING -> ValueType.of(Kind.TEXT);
            case BINARY -> ValueType.of(Kind.BYTES);
            case UUID -> new ValueType(Kind.FIXED, 2 * Long.BYTES, false);
            case FIXED -> new ValueType(Kind.FIXED, ((Types.FixedType) type).length(), false);
            case LIST -> type.asListType().elementType().isStructType() ? ValueType.of(Kind.JSON)
                    : ValueType.listOf(type(type.asListType().elementType(), name));
            case MAP -> ValueType.of(Kind.JSON);
            default -> throw new IllegalArgumentException("found column '" + name + "' of type " + type
                    + ", expected numbers, text, bytes, times, lists, maps or structs");
        };
    }

    /**
     * Returns the values of the columns that a file is partitioned by; none if its specification lacks one that others
     * have, so that they are read from the file.
     */
    byte[] @Nullable [] constants(ContentFile<?> file) {
        PartitionSpec spec = specs.get(file.specId());
        if (identities.isEmpty() || spec == null) {
            return DataFile.NO_CONSTANTS;
        }
        byte[] @Nullable [] values = new byte[identities.size()][];
        int found = 0;
        for (int f = 0; f < spec.fields().size(); f++) {
            PartitionField field = spec.fields().get(f);
            if (field.transform().isIdentity()) {
                int at = identities.indexOf(field.sourceId());
                found++;
                Object value = file.partition().get(f, Object.class);
                TableColumn column = columns.stream().filter(of -> of.constant() == at).findFirst().orElse(null);
                values[at] = value == null || column == null ? null : value(value, column.type());
            }
        }
        return found == identities.size() ? values : DataFile.NO_CONSTANTS;
    }

    /** Encodes a value in the form in which Iceberg has it in memory. */
    private static byte[] value(Object value, ValueType type) {
        return switch (value) {
            case Boolean truth -> Values.number(type.kind(), truth ? 1 : 0);
            case Float real when type.kind() == Kind.F32 -> Values.number(type.kind(), Float.floatToRawIntBits(real));
            case Float real -> Values.number(type.kind(), Double.doubleToRawLongBits(real));
            case Double real -> Values.number(type.kind(), Double.doubleToRawLongBits(real));
            case BigDecimal decimal -> Values.decimal(decimal, type.scale());
            case Number number -> Values.number(type.kind(), number.longValue());
            case UUID id -> ByteBuffer.allocate(2 * Long.BYTES).putLong(id.getMostSignificantBits())
                    .putLong(id.getLeastSignificantBits()).array();
            case ByteBuffer bytes -> {
                byte[] copy = new byte[bytes.remaining()];
                bytes.duplicate().get(copy);
                yield copy;
            }
            case byte[] bytes -> Arrays.copyOf(bytes, bytes.length);
            default -> value.toString().getBytes(StandardCharsets.UTF_8);
        };
    }
}
