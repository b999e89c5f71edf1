// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.internal.Scratch;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Conditions on the columns of a table, all of which must hold: {@code COLUMN OP VALUE} with {@code =}, {@code !=},
 * {@code <}, {@code <=}, {@code >}, {@code >=}, and {@code COLUMN is null} or {@code is not null}, joined by
 * {@code and}: {@code country = 'de' and price >= 10}.
 *
 * <p>A value is a number, {@code true} or {@code false}, or text in single quotes, where two quotes are one. Dates and
 * times are written as text, {@code '2024-01-31'}, {@code '2024-01-31 12:00:00'}, in UTC unless they say a zone. A
 * column whose name is no plain word stands in backquotes. A comparison with null, or of a NaN other than {@code !=},
 * does not hold. Texts are compared by their bytes in UTF-8. {@link RecordStore#rowsWhere} finds the rows. Immutable.
 */
public final class RowFilter {

    /** Stands for a column of a part of a table of which it is known that its conditions hold. */
    public static final int KNOWN = -2;

    private static final Pattern CONDITION = Pattern.compile("\\G\\s*(?:`([^`]+)`|([\\w.]+))\\s*"
            + "(?:(?i:is\\s+(not\\s+)?null)"
            + "|(<=|>=|!=|<>|=|<|>)\\s*('(?:[^']|'')*'|[-+.\\w]+))\\s*(?:(?i:and)\\b|$)");
    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE).optionalStart().appendPattern("[ ]['T']")
            .append(DateTimeFormatter.ISO_LOCAL_TIME).optionalEnd().optionalStart().appendOffsetId().optionalEnd()
            .parseDefaulting(ChronoField.OFFSET_SECONDS, 0).parseDefaulting(ChronoField.HOUR_OF_DAY, 0)
            .parseDefaulting(ChronoField.MINUTE_OF_HOUR, 0).toFormatter();
    private static final Pattern UNIT = Pattern.compile("\\[(s|ms|us|ns)\\b");
    private static final long NANOS = 1_000_000_000;
    private static final int BLOCK = 1024;

    private enum Op {
        EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST, NULL, NOT_NULL;

        boolean holds(int order) {
            return switch (this) {
                case EQUAL -> order == 0;
                case UNEQUAL -> order != 0;
                case LESS -> order < 0;
                case AT_MOST -> order <= 0;
                case GREATER -> order > 0;
                case AT_LEAST -> order >= 0;
                case NULL, NOT_NULL -> false;
            };
        }

        static Op of(String sign) {
            return switch (sign) {
                case "=" -> EQUAL;
                case "<" -> LESS;
                case "<=" -> AT_MOST;
                case ">" -> GREATER;
                case ">=" -> AT_LEAST;
                default -> UNEQUAL;
            };
        }
    }

    /**
     * What is known of the values that some rows have in a column.
     *
     * @param least not greater than any value that is not null: a {@link BigDecimal} for integers, a {@link Double} for
     *     floats, of which NaNs do not count, and bytes for text and bytes; null if it is not known
     * @param greatest not less than any; null if it is not known
     * @param nulls how many values are null; -1 if that is not known
     * @param rows how many rows there are
     */
    public record Bounds(@Nullable Object least, @Nullable Object greatest, long nulls, long rows) {
    }

    /** A condition; the value is of the same classes as {@link Bounds#least}, and null for conditions on nulls. */
    private record Condition(int column, Column of, Op op, @Nullable Object value, boolean isDecimal) {

        /** The greatest integer not above an integer's value, and whether the value is that; or beyond all longs. */
        private long floor() {
            BigDecimal value = (BigDecimal) Objects.requireNonNull(this.value);
            return value.setScale(0, RoundingMode.FLOOR).longValue();
        }

        boolean holdsForNull() {
            return op == Op.NULL;
        }

        boolean mayHold(@Nullable Bounds bounds) {
            if (bounds == null) {
                return true;
            }
            if (op == Op.NULL) {
                return bounds.nulls != 0;
            }
            if (bounds.nulls == bounds.rows) {
                return false;
            }
            Object least = bounds.least;
            Object greatest = bounds.greatest;
            return switch (op) {
                case EQUAL -> (least == null || order(least) <= 0) && (greatest == null || order(greatest) >= 0);
                case LESS -> least == null || order(least) < 0;
                case AT_MOST -> least == null || order(least) <= 0;
                case GREATER -> greatest == null || order(greatest) > 0;
                case AT_LEAST -> greatest == null || order(greatest) >= 0;
                // A NaN is unequal to all, and is not among the bounds.
                case UNEQUAL -> value instanceof Double || least == null || greatest == null || order(least) != 0
                        || order(greatest) != 0;
                case NULL, NOT_NULL -> true;
            };
        }

        private int order(Object found) {
            Object value = Objects.requireNonNull(this.value);
            return switch (found) {
                case BigDecimal number -> number.compareTo((BigDecimal) value);
                case byte[] bytes -> Arrays.compareUnsigned(bytes, (byte[]) value);
                case Double real -> real < (double) value ? -1 : real > (double) value ? 1 : 0;
                default -> throw new IllegalArgumentException("found bounds of " + found.getClass());
            };
        }

        boolean holds(MemorySegment bytes, long size) {
            if (op == Op.NULL || op == Op.NOT_NULL) {
                return op == Op.NOT_NULL;
            }
            Object value = Objects.requireNonNull(this.value);
            DType dtype = of.spec().dtype();
            if (of.kind() == Column.Kind.NUMBERS) {
                return value instanceof Double real ? holds(dtype.doubleAt(bytes, 0), real)
                        : op.holds(integer(bytes, 0, dtype).compareTo((BigDecimal) value));
            }
            byte[] found = bytes.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
            return op.holds(isDecimal ? new BigDecimal(new String(found, StandardCharsets.UTF_8).replace("\"", ""))
                    .compareTo((BigDecimal) value) : Arrays.compareUnsigned(found, (byte[]) value));
        }

        private boolean holds(double found, double value) {
            return Double.isNaN(found) || Double.isNaN(value) ? op == Op.UNEQUAL
                    : op.holds(found < value ? -1 : found > value ? 1 : 0);
        }

        /** Clears the flags of rows for whose values, one behind another, it does not hold. */
        void clear(MemorySegment values, int count, boolean[] holds) {
            DType dtype = of.spec().dtype();
            int bytes = dtype.byteSize();
            Object value = Objects.requireNonNull(this.value);
            if (value instanceof Double real) {
                for (int i = 0; i < count; i++) {
                    holds[i] &= holds(dtype.doubleAt(values, (long) bytes * i), real);
                }
            } else if (dtype == DType.U64) {
                for (int i = 0; i < count; i++) {
                    holds[i] &= op.holds(integer(values, (long) bytes * i, dtype).compareTo((BigDecimal) value));
                }
            } else {
                BigDecimal exact = (BigDecimal) value;
                boolean isBelow = exact.compareTo(BigDecimal.valueOf(Long.MIN_VALUE)) < 0;
                boolean isAbove = exact.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0;
                long floor = floor();
                int atFloor = exact.stripTrailingZeros().scale() <= 0 ? 0 : -1;
                for (int i = 0; i < count; i++) {
                    long found = dtype.longAt(values, (long) bytes * i);
                    int order = isBelow ? 1 : isAbove ? -1 : found == floor ? atFloor : Long.compare(found, floor);
                    holds[i] &= op.holds(order);
                }
            }
        }

        private static BigDecimal integer(MemorySegment bytes, long at, DType dtype) {
            long value = dtype.longAt(bytes, at);
            return dtype == DType.U64 ? new BigDecimal(Long.toUnsignedString(value)) : BigDecimal.valueOf(value);
        }
    }

    private final List<Condition> conditions;

    private RowFilter(List<Condition> conditions) {
        this.conditions = List.copyOf(conditions);
    }

    /**
     * Reads conditions.
     *
     * @param where the conditions
     * @param columns the columns of the table
     * @param typeOf Arrow's name of the type of the values of a column, such as {@code timestamp[us]}; empty if its
     *     {@link Column} says all
     * @return the filter
     * @throws IllegalArgumentException if it is malformed, names no column, or has a value that is none of the column's
     *     type
     */
    public static RowFilter parse(String where, List<Column> columns, IntFunction<String> typeOf) {
        List<Condition> conditions = new ArrayList<>();
        Matcher next = CONDITION.matcher(where);
        int end = 0;
        while (end < where.length() && !where.isBlank()) {
            if (!next.find(end) || next.end() == end) {
                throw new IllegalArgumentException("found '" + where.substring(end).strip() + "' in condition '" + where
                        + "', expected COLUMN OP VALUE, joined by and");
            }
            end = next.end();
            conditions.add(condition(next, columns, typeOf));
        }
        if (conditions.isEmpty()) {
            throw new IllegalArgumentException("found an empty condition, expected COLUMN OP VALUE");
        }
        return new RowFilter(conditions);
    }

    private static Condition condition(Matcher found, List<Column> columns, IntFunction<String> typeOf) {
        String name = found.group(1) == null ? found.group(2) : found.group(1);
        int c = columns.stream().map(Column::name).toList().indexOf(name);
        if (c < 0) {
            throw new IllegalArgumentException("found a condition on column '" + name + "', expected one of "
                    + columns.stream().map(Column::name).toList());
        }
        Column column = columns.get(c);
        if (found.group(4) == null) {
            return new Condition(c, column, found.group(3) == null ? Op.NULL : Op.NOT_NULL, null, false);
        }
        String type = typeOf.apply(c);
        boolean isDecimal = type.startsWith("decimal");
        boolean isNumber = column.kind() == Column.Kind.NUMBERS;
        if (isNumber ? column.spec().rank() > 0 : column.encoding().equals("json") && !isDecimal) {
            throw new IllegalArgumentException("found a comparison of column '" + name + "' (" + column
                    + "), expected one of single values");
        }
        String text = found.group(5);
        boolean isText = text.startsWith("'");
        String plain = isText ? text.substring(1, text.length() - 1).replace("''", "'") : text;
        Object value;
        if (!isNumber && !isDecimal) {
            value = plain.getBytes(column.kind() == Column.Kind.TEXT ? StandardCharsets.UTF_8
                    : StandardCharsets.ISO_8859_1);
        } else if (type.startsWith("date") || type.startsWith("time")) {
            value = time(plain, type, name);
        } else if (column.spec().dtype() == DType.BOOL) {
            value = switch (plain.toLowerCase(Locale.ROOT)) {
                case "true", "1" -> BigDecimal.ONE;
                case "false", "0" -> BigDecimal.ZERO;
                default -> throw new IllegalArgumentException("found '" + plain
                        + "', expected true or false to compare column '" + name + "' with");
            };
        } else {
            value = number(plain, name, column.spec().dtype().isFloat());
        }
        return new Condition(c, column, Op.of(found.group(4)), value, isDecimal);
    }

    private static Object number(String text, String column, boolean isReal) {
        try {
            return isReal ? (Object) Double.valueOf(text) : new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("found '" + text + "', expected a number to compare column '" + column
                    + "' with", e);
        }
    }

    /** Returns a date or time in the unit of its column. */
    private static Object time(String text, String type, String column) {
        try {
            Matcher unit = UNIT.matcher(type);
            long perSecond = !unit.find() ? 1000 : switch (unit.group(1)) {
                case "s" -> 1;
                case "ms" -> 1_000;
                case "us" -> 1_000_000;
                default -> NANOS;
            };
            if (type.startsWith("date32")) {
                return BigDecimal.valueOf(LocalDate.parse(text).toEpochDay());
            }
            if (type.startsWith("time32") || type.startsWith("time64")) {
                return BigDecimal.valueOf(LocalTime.parse(text).toNanoOfDay()).multiply(BigDecimal.valueOf(perSecond))
                        .divide(BigDecimal.valueOf(NANOS));
            }
            var at = OffsetDateTime.parse(text, TIMESTAMP).withOffsetSameInstant(ZoneOffset.UTC);
            return BigDecimal.valueOf(at.toEpochSecond()).multiply(BigDecimal.valueOf(perSecond)).add(BigDecimal
                    .valueOf(at.getNano()).multiply(BigDecimal.valueOf(perSecond)).divide(BigDecimal.valueOf(NANOS)));
        } catch (DateTimeException e) {
            try {
                return new BigDecimal(text);
            } catch (NumberFormatException _) {
                throw new IllegalArgumentException("found '" + text + "', expected a " + type
                        + " to compare column '" + column + "' with", e);
            }
        }
    }

    /**
     * Finds the same conditions on the columns of a part of the table.
     *
     * @param columnOf the position of a column among those of the part; -1 if it cannot be compared there, and
     *     {@link #KNOWN} if its conditions hold for all rows of the part
     * @param columns the part's columns
     * @return the filter; null if a condition cannot be asked there
     */
    public @Nullable RowFilter over(IntUnaryOperator columnOf, List<Column> columns) {
        List<Condition> own = new ArrayList<>();
        for (Condition condition : conditions) {
            int column = columnOf.applyAsInt(condition.column);
            if (column == KNOWN) {
                continue;
            }
            if (column < 0 || columns.get(column).kind() != condition.of.kind()
                    || !columns.get(column).spec().dtype().equals(condition.of.spec().dtype())) {
                return null;
            }
            own.add(new Condition(column, columns.get(column), condition.op, condition.value, condition.isDecimal));
        }
        return new RowFilter(own);
    }

    /** {@return the positions of the columns of which it has conditions, each once} */
    public int[] columns() {
        return conditions.stream().mapToInt(Condition::column).distinct().toArray();
    }

    /**
     * Tells whether rows of which something is known may be among those for which the conditions hold.
     *
     * @param boundsOf what is known of the rows' values in a column; null if nothing is
     * @return false if they are surely not
     */
    public boolean mayHold(IntFunction<@Nullable Bounds> boundsOf) {
        for (Condition condition : conditions) {
            if (!condition.mayHold(boundsOf.apply(condition.column))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Tells whether rows that all have one value in some columns may be among those for which the conditions hold.
     *
     * @param has the columns whose value is known
     * @param valueOf the value that all rows have in such a column; null if they are null
     * @return false if they are surely not
     */
    public boolean mayHold(IntFunction<Boolean> has, IntFunction<@Nullable MemorySegment> valueOf) {
        for (Condition condition : conditions) {
            if (has.apply(condition.column)) {
                MemorySegment value = valueOf.apply(condition.column);
                if (!(value == null ? condition.holdsForNull() : condition.holds(value, value.byteSize()))) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Finds the rows for which the conditions hold. Reads the values of columns in the order of the conditions, each
     * only where those before hold for some row near.
     *
     * @param rows the table
     * @param from the first row
     * @param end behind the last row
     * @param into receives them, ascending
     */
    public void find(RecordStore rows, long from, long end, FoundRows into) {
        long[] records = new long[BLOCK];
        long[] places = new long[512];
        boolean[] holds = new boolean[BLOCK];
        Span span = new Span();
        try (SpanReader reader = new SpanReader(ReadMode.AUTO); Scratch scratch = new Scratch()) {
            for (long first = from; first < end; first += BLOCK) {
                int count = (int) Math.min(BLOCK, end - first);
                for (int i = 0; i < count; i++) {
                    records[i] = first + i;
                    holds[i] = true;
                }
                for (Condition condition : conditions) {
                    if (!clearAll(rows, condition, records, count, scratch, places, holds)) {
                        clearEach(rows, condition, first, count, reader, span, scratch, holds);
                    }
                }
                for (int i = 0; i < count; i++) {
                    if (holds[i]) {
                        into.add(first + i);
                    }
                }
            }
        }
    }

    /** Compares many numbers at once, if the store can copy them and all are there. */
    private static boolean clearAll(RecordStore rows, Condition condition, long[] records, int count, Scratch scratch,
            long[] places, boolean[] holds) {
        int bytes = condition.of.spec().dtype().byteSize();
        if (condition.value == null || condition.of.kind() != Column.Kind.NUMBERS) {
            return false;
        }
        MemorySegment values = scratch.of((long) bytes * count);
        if (!rows.gather(records, count, condition.column, bytes, values, 0, places)) {
            return false;
        }
        condition.clear(values, count, holds);
        return true;
    }

    private static void clearEach(RecordStore rows, Condition condition, long first, int count, SpanReader reader,
            Span span, Scratch scratch, boolean[] holds) {
        for (int i = 0; i < count; i++) {
            if (!holds[i]) {
                continue;
            }
            if (!rows.isPresent(first + i, condition.column)) {
                holds[i] = condition.holdsForNull();
            } else if (condition.value == null) {
                holds[i] = condition.op == Op.NOT_NULL;
            } else {
                rows.locate(first + i, condition.column, span);
                MemorySegment value = scratch.of(Math.max(Long.BYTES, span.byteSize()));
                reader.copy(span, value, 0);
                holds[i] = condition.holds(value, span.byteSize());
            }
        }
    }

    /** Rows that were found: their indices, ascending. For one thread. */
    public static final class FoundRows {

        private long[] rows = new long[16];
        private int count;

        /** Creates a list of none. */
        public FoundRows() {
        }

        /**
         * Adds a row.
         *
         * @param row its index, above all before
         */
        public void add(long row) {
            if (count == rows.length) {
                rows = Arrays.copyOf(rows, 2 * count);
            }
            rows[count++] = row;
        }

        /** {@return the rows' indices} */
        public long[] toArray() {
            return Arrays.copyOf(rows, count);
        }
    }
}
