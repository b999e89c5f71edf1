// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.format.csv.ColumnType.Kind;
import io.penstock.format.csv.TableOptions.Declared;
import io.penstock.format.csv.TableOptions.Features;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where the decoded values of a block of rows are. All values of a column of the table are consecutive, and so are its
 * states, one byte a row, if a row may lack a value. The columns follow each other: of a block of R rows, a column that
 * has B bytes of others before it in each row begins at R · B.
 */
final class RowLayout {

    /** The bytes of a text's place: an {@code i64} and an {@code i32} for its length. */
    static final int TEXT_BYTES = 12;

    /**
     * A column of the table.
     *
     * @param before the bytes that other columns have before it in each row
     * @param width its bytes in each row
     * @param stateBefore the same for its states; negative if each row has a value
     */
    record Cell(Column column, String storedType, int before, int width, int stateBefore) {

        boolean isText() {
            return column.kind() == Column.Kind.TEXT;
        }
    }

    /**
     * What becomes of a field.
     *
     * @param column its name
     * @param before the bytes that other columns have before the target's in each row
     * @param stride the bytes of the target's column in each row
     * @param within where the value is in these
     * @param stateBefore negative if each row has a value
     * @param maskBefore the bytes before the mask's column; negative if there is none
     * @param maskStride the bytes of a mask in each row
     * @param maskWithin where the value's is in these
     * @param missing what stands for a missing value, if anything does
     */
    record Target(String column, ColumnType type, int before, int stride, int within, int stateBefore, int maskBefore,
            int maskStride, int maskWithin, OptionalDouble missing, @Nullable Categories categories) {
    }

    final List<Cell> cells = new ArrayList<>();
    final Map<String, List<Target>> targets = new LinkedHashMap<>();
    /** The texts of the columns of categories. */
    final Map<String, List<String>> categories = new LinkedHashMap<>();
    int rowBytes;

    /**
     * @param names the columns of the files
     * @param found for each what its fields are
     * @param texts for each the texts of its categories, if they were collected
     * @param mayLack the columns that a file of the table does not have
     */
    static RowLayout of(TableOptions options, List<String> names, Map<String, Integer> found,
            Map<String, Categories> texts, Set<String> mayLack) {
        RowLayout layout = new RowLayout();
        Set<String> grouped = new HashSet<>();
        for (Map.Entry<String, Features> group : options.features().entrySet()) {
            layout.addFeatures(group.getKey(), group.getValue(), found, mayLack);
            grouped.addAll(group.getValue().columns());
        }
        for (String name : options.columns().keySet()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException("found no column '" + name + "', which the options of the table"
                        + " declare, expected one of " + names);
            }
        }
        for (String name : names) {
            Declared declared = options.columns().get(name);
            if (declared == null && grouped.contains(name)) {
                continue;
            }
            int fields = found.getOrDefault(name, 0);
            ColumnType type = declared == null || declared.type().equals("found") ? ColumnType.found(fields)
                    : ColumnType.parse(declared.type());
            if (type.kind() != Kind.SKIP) {
                layout.addColumn(name, type, declared == null ? Optional.empty() : declared.missing(), fields,
                        mayLack.contains(name), texts.get(name));
            }
        }
        Set<String> unique = new HashSet<>();
        for (Cell cell : layout.cells) {
            if (!unique.add(cell.column.name())) {
                throw new IllegalArgumentException("found two columns '" + cell.column.name()
                        + "', expected other names for the features of the table");
            }
        }
        return layout;
    }

    private void addColumn(String name, ColumnType type, Optional<Double> missing, int found, boolean mayLack,
            @Nullable Categories texts) {
        if (missing.isPresent() && (type.kind() == Kind.TEXT
                || !type.kind().dtype.isFloat() && missing.get() != Math.rint(missing.get()))) {
            throw new IllegalArgumentException("column '" + name + "': found " + missing.get() + " for missing values"
                    + " of a column of " + type.arrowName() + ", expected a number that it can have");
        }
        if (texts != null) {
            categories.put(name, texts.texts());
        }
        // A text may be no UTF-8, also one that should be a category.
        boolean isComplete = type.holds(found) && ((found & ColumnType.MISSING) == 0 && !mayLack
                || missing.isPresent() && type.kind() != Kind.CATEGORY);
        int width = type.kind() == Kind.TEXT ? TEXT_BYTES : type.kind().dtype.byteSize();
        int before = rowBytes;
        int stateBefore = isComplete ? -1 : before + width;
        rowBytes += width + (isComplete ? 0 : 1);
        cells.add(new Cell(type.column(name), type.arrowName(), before, width, stateBefore));
        add(new Target(name, type, before, width, 0, stateBefore, -1, 0, 0, optional(missing), texts));
    }

    private void add(Target target) {
        targets.computeIfAbsent(target.column, _ -> new ArrayList<>()).add(target);
    }

    private static OptionalDouble optional(Optional<Double> value) {
        return value.isPresent() ? OptionalDouble.of(value.get()) : OptionalDouble.empty();
    }

    private void addFeatures(String name, Features features, Map<String, Integer> found, Set<String> mayLack) {
        ColumnType type = new ColumnType(Kind.valueOf(features.dtype().toString().toUpperCase(Locale.ROOT)),
                0, TimeUnit.DAYS);
        boolean isComplete = true;
        for (String column : features.columns()) {
            Integer fields = found.get(column);
            if (fields == null) {
                throw new IllegalArgumentException("found no column '" + column + "', of which the features '" + name
                        + "' are made, expected one of " + found.keySet());
            }
            isComplete &= type.holds(fields)
                    && (features.missing().isPresent() || (fields & ColumnType.MISSING) == 0
                            && !mayLack.contains(column));
        }
        int count = features.columns().size();
        int width = count * features.dtype().byteSize();
        int before = rowBytes;
        int stateBefore = isComplete ? -1 : before + width;
        rowBytes += width + (isComplete ? 0 : 1);
        cells.add(new Cell(Column.numbers(name, features.dtype(), count), type.arrowName(), before, width,
                stateBefore));
        int maskBefore = -1;
        if (features.mask()) {
            maskBefore = rowBytes;
            rowBytes += count;
            cells.add(new Cell(Column.numbers(name + ".mask", DType.U8, count), "uint8", maskBefore, count, -1));
        }
        for (int i = 0; i < count; i++) {
            add(new Target(features.columns().get(i), type, before, width, i * features.dtype().byteSize(), stateBefore,
                    maskBefore, count, i, optional(features.missing()), null));
        }
    }
}
