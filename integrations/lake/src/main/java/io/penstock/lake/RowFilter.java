// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.lake.ValueType.Kind;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Conditions on columns, all of which must hold: {@code COLUMN OP VALUE} with {@code =}, {@code !=}, {@code <},
 * {@code <=}, {@code >}, {@code >=}, and {@code COLUMN is null} or {@code is not null}, joined by {@code and}. A value
 * is a number, {@code true} or {@code false}, or text in single quotes, where two quotes are one; dates and timestamps
 * are written as text, {@code '2024-01-31'}. A column whose name is no plain word stands in backquotes. As in SQL, a
 * comparison with null does not hold.
 */
final class RowFilter {

    private static final Pattern CONDITION = Pattern.compile("\\G\\s*(?:`([^`]+)`|([\\w.]+))\\s*"
            + "(?:(?i:is\\s+(not\\s+)?null)"
            + "|(<=|>=|!=|<>|=|<|>)\\s*('(?:[^']|'')*'|[-+.\\w]+))\\s*(?:(?i:and)\\b|$)");

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

    /** A condition on a column; {@code value} is what {@link #value} makes of the column's values. */
    private record Condition(int column, TableColumn of, Op op, @Nullable Comparable<?> value) {

        boolean holds(@Nullable MemorySegment found) {
            if (found == null || op == Op.NULL || op == Op.NOT_NULL) {
                return found == null ? op == Op.NULL : op == Op.NOT_NULL;
            }
            return op.holds(compare(RowFilter.value(found, of.type()), Objects.requireNonNull(value)));
        }
    }

    private final List<Condition> conditions;
    private final Span span = new Span();

    private RowFilter(List<Condition> conditions) {
        this.conditions = conditions;
    }

    static RowFilter parse(String where, List<TableColumn> columns) {
        List<Condition> conditions = new ArrayList<>();
        Matcher next = CONDITION.matcher(where);
        int end = 0;
        while (end < where.length()) {
            if (!next.find(end) || next.end() == end) {
                throw new IllegalArgumentException("found '" + where.substring(end).strip() + "' in condition '" + where
                        + "', expected COLUMN OP VALUE, joined by and");
            }
            end = next.end();
            conditions.add(condition(next, columns));
        }
        if (conditions.isEmpty()) {
            throw new IllegalArgumentException("found an empty condition, expected COLUMN OP VALUE");
        }
        return new RowFilter(conditions);
    }

    private static Condition condition(Matcher found, List<TableColumn> columns) {
        String name = found.group(1) == null ? found.group(2) : found.group(1);
        int c = columns.stream().map(TableColumn::name).toList().indexOf(name);
        if (c < 0) {
            throw new IllegalArgumentException("found a condition on column '" + name + "', expected one of "
                    + columns.stream().map(TableColumn::name).toList());
        }
        TableColumn column = columns.get(c);
        if (found.group(4) == null) {
            return new Condition(c, column, found.group(3) == null ? Op.NULL : Op.NOT_NULL, null);
        }
        ValueType type = column.type();
        if (type.isList() || type.kind() == Kind.JSON) {
            throw new IllegalArgumentException("found a comparison of column '" + name + "' of type " + type
                    + ", expected one of single values");
        }
        String text = found.group(5);
        String plain = text.startsWith("'") ? text.substring(1, text.length() - 1).replace("''", "'") : text;
        Comparable<?> value = switch (type.kind()) {
            case I8, I16, I32, I64 -> number(plain, name);
            case F32, F64 -> Double.valueOf(number(plain, name).doubleValue());
            case DECIMAL -> number(plain, name);
            default -> value(MemorySegment.ofArray(Values.parse(type.kind() == Kind.BOOL
                    ? plain.toLowerCase(Locale.ROOT) : plain, type)), type);
        };
        return new Condition(c, column, Op.of(found.group(4)), value);
    }

    private static BigDecimal number(String text, String column) {
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("found '" + text + "', expected a number to compare column '" + column
                    + "' with", e);
        }
    }

    /** Returns a value in a form in which values of its type can be compared. */
    private static Comparable<?> value(MemorySegment bytes, ValueType type) {
        DType dtype = type.kind().dtype();
        return switch (type.kind()) {
            case F32, F64 -> Values.real(bytes, 0, dtype);
            case DECIMAL -> new BigDecimal((String) Objects.requireNonNull(
                    Json.parse(bytes.toArray(ValueLayout.JAVA_BYTE))));
            case TEXT, JSON -> new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
            case BYTES, FIXED -> new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
            default -> BigDecimal.valueOf(Values.integer(bytes, 0, dtype));
        };
    }

    @SuppressWarnings("unchecked")
    private static int compare(Comparable<?> a, Comparable<?> b) {
        return ((Comparable<Object>) a).compareTo(b);
    }

    /** Tells whether rows of a file may be among those for which the conditions hold. */
    boolean mayHold(DataFile file) {
        for (Condition condition : conditions) {
            int constant = condition.of.constant();
            if (constant >= 0 && constant < file.constants().length) {
                byte[] value = file.constants()[constant];
                if (!condition.holds(value == null ? null : MemorySegment.ofArray(value))) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Tells whether the conditions hold for a row of a file, counted with those deleted. */
    boolean holds(OpenFile file, long row) {
        for (Condition condition : conditions) {
            MemorySegment value = null;
            if (file.isPresent(row, condition.column)) {
                file.locate(row, condition.column, span);
                value = span.slice();
            }
            if (!condition.holds(value)) {
                return false;
            }
        }
        return true;
    }
}
