// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.delta.kernel.Snapshot;
import io.delta.kernel.internal.util.ColumnMapping;
import io.delta.kernel.internal.util.ColumnMapping.ColumnMappingMode;
import io.delta.kernel.types.ArrayType;
import io.delta.kernel.types.BinaryType;
import io.delta.kernel.types.BooleanType;
import io.delta.kernel.types.ByteType;
import io.delta.kernel.types.DataType;
import io.delta.kernel.types.DateType;
import io.delta.kernel.types.DecimalType;
import io.delta.kernel.types.DoubleType;
import io.delta.kernel.types.FloatType;
import io.delta.kernel.types.IntegerType;
import io.delta.kernel.types.LongType;
import io.delta.kernel.types.MapType;
import io.delta.kernel.types.ShortType;
import io.delta.kernel.types.StringType;
import io.delta.kernel.types.StructField;
import io.delta.kernel.types.StructType;
import io.delta.kernel.types.TimestampNTZType;
import io.delta.kernel.types.TimestampType;
import io.penstock.lake.DataFile;
import io.penstock.lake.TableColumn;
import io.penstock.lake.ValueType;
import io.penstock.lake.ValueType.Kind;
import io.penstock.lake.Values;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The columns of a Delta table's schema, with the names or ids that data files have for them. */
final class DeltaColumns {

    private final ColumnMappingMode mode;
    private final List<String> partitions;
    private final List<TableColumn> columns = new ArrayList<>();

    private DeltaColumns(ColumnMappingMode mode, List<String> partitions) {
        this.mode = mode;
        this.partitions = partitions;
    }

    static List<TableColumn> of(Snapshot snapshot) {
        DeltaColumns found = new DeltaColumns(ColumnMapping.getColumnMappingMode(
                snapshot.getMetadata().getConfiguration()), snapshot.getPartitionColumnNames());
        found.add(snapshot.getSchema(), "", "");
        return List.copyOf(found.columns);
    }

    /** Returns the names in the log of columns of these names. */
    static List<String> physical(Snapshot snapshot, List<String> names) {
        return names.stream().map(name -> snapshot.getSchema().fields().stream()
                .filter(field -> field.getName().equalsIgnoreCase(name)).findFirst()
                .map(ColumnMapping::getPhysicalName).orElse(name)).toList();
    }

    private void add(StructType struct, String prefix, String prefixInFile) {
        for (StructField field : struct.fields()) {
            String name = prefix + field.getName();
            String inFile = prefixInFile + ColumnMapping.getPhysicalName(field);
            if (field.getDataType() instanceof StructType inner) {
                add(inner, name + ".", inFile + ".");
                continue;
            }
            Map<String, String> renames = new HashMap<>();
            collect(field.getDataType(), "", renames);
            int constant = -1;
            for (int p = 0; prefix.isEmpty() && p < partitions.size(); p++) {
                constant = partitions.get(p).equalsIgnoreCase(name) ? p : constant;
            }
            columns.add(new TableColumn(name, type(field.getDataType(), name), inFile,
                    mode == ColumnMappingMode.ID ? ColumnMapping.getColumnId(field) : -1, constant, renames));
        }
    }

    /** Collects the names of the fields of structs in lists and maps. */
    private static void collect(DataType type, String path, Map<String, String> renames) {
        if (type instanceof ArrayType list) {
            collect(list.getElementType(), path, renames);
        } else if (type instanceof MapType map) {
            collect(map.getKeyType(), path, renames);
            collect(map.getValueType(), path, renames);
        } else if (type instanceof StructType struct) {
            for (StructField field : struct.fields()) {
                String inFile = path + ColumnMapping.getPhysicalName(field);
                if (!ColumnMapping.getPhysicalName(field).equals(field.getName())) {
                    renames.put(inFile, field.getName());
                }
                collect(field.getDataType(), inFile + ".", renames);
            }
        }
    }

    private static ValueType type(DataType type, String name) {
        return switch (type) {
            case BooleanType _ -> ValueType.of(Kind.BOOL);
            case ByteType _ -> ValueType.of(Kind.I8);
            case ShortType _ -> ValueType.of(Kind.I16);
            case IntegerType _ -> ValueType.of(Kind.I32);
            case LongType _ -> ValueType.of(Kind.I64);
            case FloatType _ -> ValueType.of(Kind.F32);
            case DoubleType _ -> ValueType.of(Kind.F64);
            case DateType _ -> ValueType.of(Kind.DATE);
            case TimestampType _, TimestampNTZType _ -> ValueType.of(Kind.TIMESTAMP);
            case DecimalType decimal -> ValueType.decimal(decimal.getScale());
            case StringType _ -> ValueType.of(Kind.TEXT);
            case BinaryType _ -> ValueType.of(Kind.BYTES);
            case ArrayType list -> list.getElementType() instanceof StructType ? ValueType.of(Kind.JSON)
                    : ValueType.listOf(type(list.getElementType(), name));
            case MapType _ -> ValueType.of(Kind.JSON);
            default -> throw new IllegalArgumentException("found column '" + name + "' of type " + type
                    + ", expected a type that Parquet has: numbers, text, bytes, times, lists, maps, structs");
        };
    }

    /** Encodes the values of a partition in the order of the table's partition columns. */
    static byte[][] values(Map<String, String> partition, List<String> partitions, List<TableColumn> columns) {
        if (partitions.isEmpty()) {
            return DataFile.NO_CONSTANTS;
        }
        byte[][] values = new byte[partitions.size()][];
        for (TableColumn column : columns) {
            String text = column.constant() < 0 ? null : partition.get(partitions.get(column.constant()));
            // An empty text is null, as Delta's protocol has it.
            if (text != null && !text.isEmpty()) {
                values[column.constant()] = Values.parse(text, column.type());
            }
        }
        return values;
    }
}
