// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.col;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructType;

/**
 * How the values of a column become bytes of MDS.
 *
 * @param name the column
 * @param encoding its encoding in MDS
 * @param type the type of {@link #selected}: a number, an array of numbers, or bytes
 */
record MdsColumn(String name, String encoding, DataType type) implements Serializable {

    /**
     * Chooses an encoding.
     *
     * @param type the type of the column
     * @param wanted the encoding that the user names, or none
     * @throws IllegalArgumentException if values of the type cannot have that encoding
     */
    static MdsColumn of(String name, DataType type, Optional<String> wanted) {
        boolean isArray = type instanceof ArrayType;
        DataType number = type instanceof ArrayType array ? array.elementType() : type;
        String dtype = dtype(number);
        if (dtype.isEmpty()) {
            return new MdsColumn(name, wanted.orElse(encodingOf(type)), DataTypes.BinaryType);
        }
        String usual = isArray ? "ndarray:" + dtype : dtype;
        String encoding = wanted.orElse(usual);
        if (!encoding.equals(usual) && !(isArray && encoding.startsWith(usual + ":"))) {
            throw new IllegalArgumentException("column " + name + " of " + type.simpleString() + ": found encoding "
                    + encoding + ", expected " + usual + (isArray ? ", or with a shape " + usual + ":N" : ""));
        }
        DataType stored = number instanceof BooleanType ? DataTypes.ByteType : number;
        return new MdsColumn(name, encoding, isArray ? DataTypes.createArrayType(stored) : stored);
    }

    /** The name of a type of numbers in numpy; empty for other types. */
    private static String dtype(DataType type) {
        return switch (type) {
            case BooleanType _ -> "uint8";
            case ByteType _ -> "int8";
            case ShortType _ -> "int16";
            case IntegerType _ -> "int32";
            case LongType _ -> "int64";
            case FloatType _ -> "float32";
            case DoubleType _ -> "float64";
            default -> "";
        };
    }

    private static String encodingOf(DataType type) {
        return switch (type) {
            case BinaryType _ -> "bytes";
            case DecimalType _ -> "str_decimal";
            case StructType _ -> "json";
            case MapType _ -> "json";
            case ArrayType _ -> "json";
            default -> "str";
        };
    }

    /** The values of a column of rows, in the type that {@link #bytes} reads. */
    Column selected(DataType before) {
        Column column = col(name);
        boolean isNested = before instanceof StructType || before instanceof MapType || before instanceof ArrayType;
        if (!(type instanceof BinaryType)) {
            return column.cast(type);
        }
        return before instanceof BinaryType ? column : (isNested ? functions.to_json(column)
                : column.cast(DataTypes.StringType)).cast(DataTypes.BinaryType);
    }

    /**
     * The bytes of a value that is not null.
     *
     * @throws IllegalArgumentException if it is an array with a null
     */
    byte[] bytes(SpecializedGetters row, int at) {
        return switch (type) {
            case BinaryType _ -> row.getBinary(at);
            case ArrayType array -> bytes(row.getArray(at), array.elementType());
            default -> put(littleEndian(type.defaultSize()), row, at, type).array();
        };
    }

    /** An array: if sizes vary, its rank and the width of its size in one byte, and its size, precede the numbers. */
    private byte[] bytes(ArrayData numbers, DataType number) {
        int count = numbers.numElements();
        boolean isFixed = encoding.indexOf(':') != encoding.lastIndexOf(':');
        int width = isFixed ? -1 : count < 1 << Byte.SIZE ? 0 : count < 1 << Short.SIZE ? 1 : 2;
        int headBytes = isFixed ? 0 : 1 + (1 << width);
        ByteBuffer bytes = littleEndian(headBytes + Math.multiplyExact(count, number.defaultSize()));
        switch (width) {
            case 0 -> bytes.put((byte) (1 << 2)).put((byte) count);
            case 1 -> bytes.put((byte) (1 << 2 | 1)).putShort((short) count);
            case 2 -> bytes.put((byte) (1 << 2 | 2)).putInt(count);
            default -> { }
        }
        for (int i = 0; i < count; i++) {
            if (numbers.isNullAt(i)) {
                throw new IllegalArgumentException("column " + name + ": found null at " + i
                        + " of an array, expected a number");
            }
            put(bytes, numbers, i, number);
        }
        return bytes.array();
    }

    private static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer put(ByteBuffer bytes, SpecializedGetters from, int at, DataType type) {
        return switch (type) {
            case ByteType _ -> bytes.put(from.getByte(at));
            case ShortType _ -> bytes.putShort(from.getShort(at));
            case IntegerType _ -> bytes.putInt(from.getInt(at));
            case LongType _ -> bytes.putLong(from.getLong(at));
            case FloatType _ -> bytes.putFloat(from.getFloat(at));
            default -> bytes.putDouble(from.getDouble(at));
        };
    }
}
