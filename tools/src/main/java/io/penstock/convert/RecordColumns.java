// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.decode.Decoder;
import io.penstock.error.PenstockException;
import io.penstock.format.NdarrayValue;
import io.penstock.format.numpy.NpyValue;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Converts record columns to fields: finds those that are numbers, as stored or decoded. */
final class RecordColumns {

    private static final String NDARRAY = "ndarray";
    private static final int MANY = 8;

    /**
     * A column as a field.
     *
     * @param index the column's position in the store
     * @param decoder decodes the stored value; null to use it unchanged
     */
    record Field(int index, Column column, @Nullable Decoder decoder, TensorSpec spec) {

        /** Tells whether its elements are numbers rather than untyped bytes. */
        boolean isNumbers() {
            return decoder == null ? column.kind() == Column.Kind.NUMBERS || !spec.isVariable()
                    : decoder != Decoder.bytes();
        }
    }

    private final Conversion conversion;
    private final RecordStore store;

    RecordColumns(Conversion conversion, RecordStore store) {
        this.conversion = conversion;
        this.store = store;
    }

    /**
     * Returns the selected columns as fields, or all that a format can hold.
     *
     * @param varies whether arrays that store their own shape may differ in the first dimension; if not, all have the
     *     first record's
     * @param fits whether the format can hold a field
     * @param what a description of such a field
     */
    List<Field> fields(boolean varies, Predicate<Field> fits, String what) throws IOException {
        List<Field> found = new ArrayList<>();
        List<String> left = new ArrayList<>();
        for (int c : chosen()) {
            Field field = field(c, varies);
            if (field != null && fits.test(field)) {
                found.add(field);
            } else if (conversion.fields != null) {
                throw new ConversionException((field == null ? store.columns().get(c) : field.spec())
                        + ": found " + (field == null || !field.isNumbers() ? "untyped bytes"
                        : "a field of numbers") + ", " + conversion.format + " needs " + what
                        + " (a decoder may give one)");
            } else {
                left.add(store.columns().get(c).name());
            }
        }
        if (found.isEmpty()) {
            throw new ConversionException("found no column that is " + what + ", as " + conversion.format
                    + " needs, in "
                    + some(store.columns()) + " (a decoder may give one)");
        }
        conversion.lose("columns", left);
        return found;
    }

    /** Returns the positions of the selected columns, or of all. */
    List<Integer> chosen() {
        List<String> names = store.columns().stream().map(Column::name).toList();
        List<String> wanted = conversion.fields == null ? names : conversion.fields;
        List<String> all = new ArrayList<>(wanted);
        all.addAll(conversion.configured());
        for (String name : all) {
            if (!names.contains(name)) {
                String reason = store.unreadColumns().get(name);
                throw new ConversionException(reason == null ? "found no column '" + name + "', expected one of "
                        + some(names)
                        : "column '" + name + "' cannot be read: " + reason);
            }
        }
        if (conversion.fields != null) {
            conversion.lose("columns", names.stream().filter(name -> !wanted.contains(name)).toList());
        }
        return wanted.stream().distinct().map(names::indexOf).toList();
    }

    /** Returns a column as a field; null if it holds pickles. */
    @Nullable Field field(int index, boolean varies) throws IOException {
        Column column = store.columns().get(index);
        Decoder decoder = conversion.decoder(column.name());
        boolean isGiven = decoder != null;
        try {
            decoder = isGiven ? decoder : byEncoding(index, column, varies);
            return new Field(index, column, decoder, decoder == null ? column.spec() : decoder.field(column));
        } catch (IllegalArgumentException e) {
            if (isGiven) {
                throw new ConversionException(e.getMessage(), e);
            }
            return null;
        }
    }

    /** Tells whether values are MDS arrays, which store their own shapes. */
    static boolean isNdarray(Column column) {
        return column.kind() == Column.Kind.BYTES && (column.encoding().equals(NDARRAY)
                || column.encoding().startsWith(NDARRAY + ":"));
    }

    /** Returns the dtype of all arrays in such a column; null if each stores its own. */
    static @Nullable DType ndarrayType(Column column) {
        String encoding = column.encoding();
        return encoding.equals(NDARRAY) ? null : DType.of(encoding.substring(NDARRAY.length() + 1)
                .replace("uint", "u").replace("int", "i").replace("float", "f"));
    }

    /** Returns a column as a member of a sample: decoded only on request. */
    Field member(int index) throws IOException {
        Column column = store.columns().get(index);
        Field decoded = conversion.decoder(column.name()) == null ? null : field(index, true);
        return decoded != null ? decoded : new Field(index, column, null, column.spec());
    }

    private @Nullable Decoder byEncoding(int index, Column column, boolean varies) throws IOException {
        if (column.kind() == Column.Kind.NUMBERS || !column.spec().isVariable()) {
            return null;
        }
        String encoding = column.encoding();
        boolean npy = encoding.substring(encoding.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT).equals("npy");
        if (npy || isNdarray(column)) {
            Decoder like = like(index, column, npy, varies);
            if (like != null) {
                return like;
            }
        }
        return Decoder.of(column);
    }

    /** Returns a decoder for arrays like the column's first one; null if there is none. */
    private @Nullable Decoder like(int index, Column column, boolean npy, boolean varies) throws IOException {
        long record = 0;
        while (record < store.size() && !store.isPresent(record, index)) {
            record++;
        }
        if (record == store.size()) {
            return null;
        }
        Span span = new Span();
        store.locate(record, index, span);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(Math.max(1, span.byteSize()), Long.BYTES);
            MemorySegment.copy(span.segment(), span.byteOffset(), copy, 0, span.byteSize());
            if (npy) {
                TensorSpec spec = new NpyValue(null).read(copy, span.byteSize());
                return Decoder.npy(spec.dtype(), shape(spec, varies));
            }
            DType dtype = ndarrayType(column);
            NdarrayValue value = new NdarrayValue();
            value.read(copy, 0, span.byteSize(), dtype);
            long[] shape = shape(new TensorSpec("", value.dtype(), value.shape()), varies);
            return dtype == null ? Decoder.ndarray(value.dtype(), shape) : Decoder.typedNdarray(dtype, shape);
        } catch (IOException | PenstockException e) {
            throw new ConversionException(store.name(record) + ", field '" + column.name() + "': " + e.getMessage(), e);
        }
    }

    private static long[] shape(TensorSpec spec, boolean varies) {
        long[] shape = spec.shape();
        if (varies && shape.length > 0 && spec.rowBytes() > 0) {
            shape[0] = TensorSpec.VARIABLE;
        }
        return shape;
    }

    /** Returns the items of a list as text, truncated if there are many. */
    static String some(List<?> items) {
        return items.size() <= MANY ? items.toString()
                : items.subList(0, MANY) + " and " + (items.size() - MANY) + " more";
    }
}
