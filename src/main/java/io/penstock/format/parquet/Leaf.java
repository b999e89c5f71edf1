package io.penstock.format.parquet;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.ColumnBlock;
import io.penstock.format.arrow.ArrowField;
import io.penstock.format.arrow.EmbeddedSchema;
import io.penstock.io.MappedFile;
import io.penstock.io.spill.DecodedSpill;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.List;

/**
 * A leaf of the schema whose values can be read, one a row or a list a row, and how its levels say which.
 *
 * <p>A definition level says how many of the optional and repeated nodes on the path to the leaf are there; a
 * repetition level of 0 starts a row.
 *
 * @param index its place among the schema's leaves, and so among a row group's chunks
 * @param column what its values are to a store's users
 * @param physical how values are stored
 * @param storedBytes of a value, once decoded; 0 if they vary
 * @param storedType what Arrow calls the type of the numbers or bytes
 * @param maxDefinition the level of a value that is there
 * @param listDefinition of a list, the level of an element that is there or null: one less is an empty list, anything
 *     below a null one; 0 if it is no list
 */
record Leaf(int index, Column column, Physical physical, int storedBytes, String storedType, int maxDefinition,
        int listDefinition) implements ParquetColumn {

    /** How its values are stored. */
    StoredLeaf storage() {
        return new StoredLeaf(index, physical, storedBytes, maxDefinition, isList() ? 1 : 0,
                storedType.equals(Type.NULL));
    }

    @Override
    public List<StoredLeaf> stored() {
        return List.of(storage());
    }

    @Override
    public ColumnBlock decode(MappedFile file, RowGroup group, DecodeLimit.Budget budget, DecodedSpill copy)
            throws IOException {
        try (ChunkDecoder decoder = new ChunkDecoder(file, this, group.chunks().get(index), group.rows(),
                budget)) {
            return decoder.decode(copy);
        }
    }

    boolean isList() {
        return listDefinition > 0;
    }

    /** Whether values are of different lengths, in bytes. */
    boolean isBinary() {
        return physical == Physical.BYTE_ARRAY;
    }

    /** Bytes of a value or a list's element as they are given. */
    int byteSize() {
        return isBinary() ? 1 : isFixedBytes() ? storedBytes : column.spec().dtype().byteSize();
    }

    /** Elements that each list must have; -1 if any count will do. */
    long listLength() {
        return isList() && !column.spec().isVariable() ? column.spec().dim(0) : -1;
    }

    private boolean isFixedBytes() {
        return column.kind() == Column.Kind.BYTES;
    }

    /** The same leaf, with what Arrow's schema says of it beyond Parquet's: a list's length, a unit, a time zone. */
    Leaf refined(ArrowField field) {
        String type = isList() && field.children().size() == 1 ? field.children().getFirst().typeText() : field.typeText();
        String refined = type.startsWith("duration[") && storedType.equals("int64")
                || type.startsWith("timestamp[") && storedType.startsWith(type.replaceFirst("[,\\]].*", ""))
                ? type : storedType;
        TensorSpec spec = isList() && field.listLength() >= 0 ? column.spec().withLength(field.listLength())
                : column.spec();
        return new Leaf(index, new Column(spec, column.kind(), column.encoding()), physical, storedBytes, refined,
                maxDefinition, listDefinition);
    }

    /** What a value of a physical type and annotation is, for {@link Schema}. */
    record Type(DType dtype, Column.Kind kind, String encoding, int storedBytes, String arrow) {

        /** What Arrow calls the type of which every value is null. */
        private static final String NULL = "null";

        /** The type of a leaf; null if its values cannot be read. */
        static Type of(SchemaNode leaf) {
            Annotation annotation = leaf.annotation();
            if (annotation.meaning() == Annotation.Meaning.NULL) {
                return new Type(DType.U8, Column.Kind.BYTES, "", 0, NULL);
            }
            return annotation.meaning() == Annotation.Meaning.DECIMAL ? null : switch (leaf.physical()) {
                case BOOLEAN -> number(DType.BOOL, 1, "bool");
                case INT32 -> ofInt32(annotation);
                case INT64 -> ofInt64(annotation);
                case FLOAT -> number(DType.F32, Float.BYTES, "float");
                case DOUBLE -> number(DType.F64, Double.BYTES, "double");
                case BYTE_ARRAY -> ofBytes(annotation);
                case FIXED_LEN_BYTE_ARRAY -> ofFixed(leaf.typeLength(), annotation);
                case INT96 -> null;
            };
        }

        private static Type number(DType dtype, int storedBytes, String arrow) {
            return new Type(dtype, Column.Kind.NUMBERS, "", storedBytes, arrow);
        }

        private static Type ofInt32(Annotation annotation) {
            String arrow = switch (annotation.meaning()) {
                case DATE -> "date32[day]";
                case TIME -> "time32[" + annotation.unit() + "]";
                default -> "int32";
            };
            if (annotation.meaning() != Annotation.Meaning.INTEGER) {
                return number(DType.I32, Integer.BYTES, arrow);
            }
            return switch (annotation.bits()) {
                case 8 -> annotation.signed() ? number(DType.I8, Integer.BYTES, "int8")
                        : number(DType.U8, Integer.BYTES, "uint8");
                case 16 -> annotation.signed() ? number(DType.I16, Integer.BYTES, "int16")
                        : number(DType.U16, Integer.BYTES, "uint16");
                default -> annotation.signed() ? number(DType.I32, Integer.BYTES, "int32")
                        : number(DType.U32, Integer.BYTES, "uint32");
            };
        }

        private static Type ofInt64(Annotation annotation) {
            return switch (annotation.meaning()) {
                case TIME -> number(DType.I64, Long.BYTES, "time64[" + annotation.unit() + "]");
                case TIMESTAMP -> number(DType.I64, Long.BYTES, "timestamp[" + annotation.unit()
                        + (annotation.utc() ? ", tz=UTC]" : "]"));
                case INTEGER -> annotation.signed() ? number(DType.I64, Long.BYTES, "int64")
                        : number(DType.U64, Long.BYTES, "uint64");
                default -> number(DType.I64, Long.BYTES, "int64");
            };
        }

        private static Type ofBytes(Annotation annotation) {
            return switch (annotation.meaning()) {
                case STRING -> new Type(DType.U8, Column.Kind.TEXT, "", 0, "string");
                case JSON -> new Type(DType.U8, Column.Kind.TEXT, "json", 0, "string");
                default -> new Type(DType.U8, Column.Kind.BYTES, "", 0, "binary");
            };
        }

        private static Type ofFixed(int length, Annotation annotation) {
            return annotation.meaning() == Annotation.Meaning.FLOAT16 && length == Short.BYTES
                    ? number(DType.F16, Short.BYTES, "halffloat")
                    : new Type(DType.U8, Column.Kind.BYTES, "", length, "fixed_size_binary[" + length + "]");
        }
    }
}
