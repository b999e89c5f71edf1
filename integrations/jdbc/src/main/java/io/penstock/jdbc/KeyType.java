// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.util.HexFormat;
import java.util.Locale;
import java.util.UUID;

/** How a column of a key is read from a row, kept in a cursor, and bound to the query of the next page. */
enum KeyType {
    /** A whole number from -2^63 to 2^63 - 1. */
    WHOLE,
    /** A truth value. */
    TRUTH,
    /** A decimal number, or a whole one without a sign. */
    DECIMAL,
    /** A floating-point number of 64 bits, with all of them. */
    DOUBLE,
    /** A floating-point number of 32 bits, with all of them. */
    SINGLE,
    /** Bytes, as hexadecimal digits in a cursor. */
    BYTES,
    /** A date without a zone. */
    DATE,
    /** A time of day without a zone. */
    TIME,
    /** A date and time without a zone. */
    TIMESTAMP,
    /** A time of day with its offset. */
    TIME_AT_OFFSET,
    /** A moment with its offset. */
    MOMENT,
    /** A UUID. */
    UUID_VALUE,
    /** Text, which the database compares as text, or reads as a value of the column's type. */
    TEXT,
    /** Text that the database makes of a value, and a value of it again, where it is told to. */
    CAST,
    /** Text that MariaDB makes of a value: its driver moves a time that the JVM's zone lacks, where summer begins. */
    TEXT_OF_TIME,
    /** Text that PostgreSQL makes of a value, and reads as a value of the column's type. */
    LITERAL,
    /** SQLite's: each value has a type of its own. A cursor has a number, {@code 'text} or {@code x'bytes}. */
    OF_VALUE;

    private static final String TEXT_MARK = "'";
    private static final String BYTES_MARK = "x'";

    /**
     * Returns the type for a column.
     *
     * @param product the database's name
     * @param type of {@link Types}
     * @param typeName the database's name of it
     * @param valueClass the class of its values, as the driver says
     */
    static KeyType of(String product, int type, String typeName, String valueClass) {
        if (product.equals("SQLite")) {
            return OF_VALUE;
        }
        boolean isPostgres = product.equals("PostgreSQL");
        if (valueClass.equals(UUID.class.getName()) && !isPostgres) {
            return UUID_VALUE;
        }
        boolean isMySql = product.equals("MariaDB") || product.equals("MySQL");
        KeyType found = switch (type) {
            case Types.BIGINT, Types.INTEGER, Types.SMALLINT, Types.TINYINT ->
                typeName.toUpperCase(Locale.ROOT).contains("UNSIGNED") ? DECIMAL : WHOLE;
            // MySQL and MariaDB say so of TINYINT(1), which has 2 to 127, too.
            case Types.BOOLEAN, Types.BIT -> isMySql ? WHOLE : TRUTH;
            case Types.NUMERIC, Types.DECIMAL -> DECIMAL;
            case Types.DOUBLE, Types.FLOAT -> DOUBLE;
            case Types.REAL -> SINGLE;
            case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> BYTES;
            case Types.DATE -> isMySql ? TEXT_OF_TIME : DATE;
            case Types.TIME -> isMySql ? TEXT_OF_TIME : TIME;
            case Types.TIMESTAMP -> isMySql ? TEXT_OF_TIME : TIMESTAMP;
            case Types.TIME_WITH_TIMEZONE -> TIME_AT_OFFSET;
            case Types.TIMESTAMP_WITH_TIMEZONE -> MOMENT;
            default -> TEXT;
        };
        boolean isTyped = switch (found) {
            case BYTES, DOUBLE, SINGLE, WHOLE -> true;
            default -> false;
        };
        return isPostgres && !isTyped ? LITERAL : found;
    }

    /** {@return the type to try if the database does not find a value of this one again; the same if none is left} */
    KeyType orElse() {
        return switch (this) {
            case LITERAL, OF_VALUE, CAST -> this;
            case TEXT -> CAST;
            default -> TEXT;
        };
    }

    /** A column of the key as a query selects it. Text of it has another name, so that rows are not sorted by that. */
    String selected(String column, int index) {
        return switch (this) {
            case CAST, LITERAL -> "cast(" + column + " as varchar) as penstock_key_" + index;
            case TEXT_OF_TIME -> "cast(" + column + " as char) as penstock_key_" + index;
            default -> column;
        };
    }

    /** A parameter of a query. */
    String parameter(String typeName) {
        return this == CAST ? "cast(? as " + typeName + ")" : "?";
    }

    /**
     * Reads a value.
     *
     * @throws SQLException also if it is null
     */
    Object read(ResultSet row, int column) throws SQLException {
        Object value = switch (this) {
            case WHOLE -> row.getLong(column);
            case TRUTH -> row.getBoolean(column);
            case DECIMAL -> row.getBigDecimal(column);
            case DOUBLE -> row.getDouble(column);
            case SINGLE -> row.getFloat(column);
            case BYTES -> row.getBytes(column);
            case DATE -> row.getObject(column, LocalDate.class);
            case TIME -> row.getObject(column, LocalTime.class);
            case TIMESTAMP -> row.getObject(column, LocalDateTime.class);
            case TIME_AT_OFFSET -> row.getObject(column, OffsetTime.class);
            case MOMENT -> row.getObject(column, OffsetDateTime.class);
            case UUID_VALUE -> row.getObject(column);      // not all drivers take the class
            case TEXT, CAST, TEXT_OF_TIME, LITERAL -> row.getString(column);
            case OF_VALUE -> row.getObject(column) instanceof Integer small ? Long.valueOf(small)
                    : row.getObject(column);
        };
        if (value == null || row.wasNull()) {
            throw new SQLException("found a row without a value in column " + row.getMetaData().getColumnName(column)
                    + " of the key, expected one in each row");
        }
        return value;
    }

    void bind(PreparedStatement statement, int parameter, Object value) throws SQLException {
        switch (value) {
            case Long whole -> statement.setLong(parameter, whole);
            case Boolean truth -> statement.setBoolean(parameter, truth);
            case Double number -> statement.setDouble(parameter, number);
            case Float number -> statement.setFloat(parameter, number);
            case BigDecimal decimal -> statement.setBigDecimal(parameter, decimal);
            case byte[] bytes -> statement.setBytes(parameter, bytes);
            case String text when this == LITERAL -> statement.setObject(parameter, text, Types.OTHER);
            case String text -> statement.setString(parameter, text);
            default -> statement.setObject(parameter, value);
        }
    }

    /** {@return the value as it stands in a cursor: equal values have equal texts, others have others} */
    String text(Object value) {
        return switch (value) {
            case byte[] bytes -> (this == OF_VALUE ? BYTES_MARK : "") + HexFormat.of().formatHex(bytes);
            case String text when this == OF_VALUE -> TEXT_MARK + text;
            default -> value.toString();
        };
    }

    /**
     * Reads what {@link #text} gave.
     *
     * @throws RuntimeException if it is no value of this type
     */
    Object parse(String text) {
        return switch (this) {
            case WHOLE -> Long.valueOf(text);
            case TRUTH -> Boolean.valueOf(text);
            case DECIMAL -> new BigDecimal(text);
            case DOUBLE -> Double.valueOf(text);
            case SINGLE -> Float.valueOf(text);
            case BYTES -> HexFormat.of().parseHex(text);
            case DATE -> LocalDate.parse(text);
            case TIME -> LocalTime.parse(text);
            case TIMESTAMP -> LocalDateTime.parse(text.replace(' ', 'T'));
            case TIME_AT_OFFSET -> OffsetTime.parse(text);
            case MOMENT -> OffsetDateTime.parse(text);
            case UUID_VALUE -> UUID.fromString(text);
            case TEXT, CAST, TEXT_OF_TIME, LITERAL -> text;
            case OF_VALUE -> {
                if (text.startsWith(TEXT_MARK)) {
                    yield text.substring(TEXT_MARK.length());
                }
                if (text.startsWith(BYTES_MARK)) {
                    yield HexFormat.of().parseHex(text.substring(BYTES_MARK.length()));
                }
                boolean isWhole = text.chars().allMatch(c -> c == '-' || c >= '0' && c <= '9');
                yield isWhole ? (Object) Long.valueOf(text) : (Object) Double.valueOf(text);
            }
        };
    }
}
