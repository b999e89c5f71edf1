// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.dataset.RecordFields;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.error.CodecException;
import io.penstock.format.NdarrayValue;
import io.penstock.format.numpy.NpyArray;
import io.penstock.internal.Scratch;
import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A column as a member of each sample: its suffix, and its values as files. Not thread-safe. */
final class SampleMember implements AutoCloseable {

    /** Suffixes that the webdataset library reads as text. */
    private static final Set<String> TEXTS = Set.of("txt", "text", "transcript");

    private enum Form { AS_STORED, DECIMAL, NPY, NDARRAY }

    private final RecordStore store;
    private final RecordColumns.Field field;
    private final Form form;
    private final String suffix;
    private final SampleReader reader;
    private final NdarrayValue array = new NdarrayValue();
    private final Scratch file = new Scratch();
    private byte[] header = new byte[0];
    private long headerLength = -1;
    /** The file that holds the last value; null if the value was decoded. */
    private @Nullable MappedFile valueFile;

    /** Creates a member from a column; a null suffix stands for the default by its name and encoding. */
    SampleMember(RecordStore store, RecordColumns.Field field, @Nullable String suffix) {
        this.store = store;
        this.field = field;
        this.form = formOf(field);
        this.suffix = suffix != null ? suffix : suffixOf(field.column(), form);
        this.reader = new SampleReader(RecordFields.of(store).and(field.column().name(), field.decoder()),
                ReadMode.AUTO);
    }

    private static Form formOf(RecordColumns.Field field) {
        boolean isGiven = field.decoder() != null && field.isNumbers();
        if (!isGiven && RecordColumns.isNdarray(field.column())) {
            return Form.NDARRAY;
        }
        if (!isGiven && field.column().kind() != Column.Kind.NUMBERS) {
            return Form.AS_STORED;
        }
        return field.spec().rank() == 0 && !field.spec().dtype().isFloat() ? Form.DECIMAL : Form.NPY;
    }

    private static String suffixOf(Column column, Form form) {
        String name = column.name().toLowerCase(Locale.ROOT);
        String last = name.substring(name.lastIndexOf('.') + 1);
        String ending = switch (form) {
            case DECIMAL -> last;
            case NPY, NDARRAY -> "npy";
            case AS_STORED -> {
                String encoding = column.encoding().toLowerCase(Locale.ROOT).replaceFirst(":.*", "");
                boolean text = column.kind() == Column.Kind.TEXT && !encoding.equals("json");
                yield text ? TEXTS.contains(last) ? last : "txt" : encoding.isEmpty() ? last : encoding;
            }
        };
        return last.equals(ending) || name.equals(ending) ? name : name + "." + ending;
    }

    String suffix() {
        return suffix;
    }

    /** Tells whether values are stored files, which stay in place until the store is closed. */
    boolean isAsStored() {
        return form == Form.AS_STORED && field.decoder() == null;
    }

    int column() {
        return field.index();
    }

    String columnName() {
        return field.column().name();
    }

    /** Returns a record's value as a file; null if it has none. Valid until the next call. */
    @Nullable MemorySegment file(long record) throws IOException {
        if (!store.isPresent(record, field.index())) {
            return null;
        }
        Span value = reader.locate(record, 0);
        valueFile = value.file();
        return switch (form) {
            case AS_STORED -> value.slice();
            case DECIMAL -> {
                MemorySegment number = value.slice();
                long bits = Tensor.of(number, field.spec().dtype()).getLong(0);
                String digits = field.spec().dtype() == DType.U64 ? Long.toUnsignedString(bits) : Long.toString(bits);
                yield MemorySegment.ofArray(digits.getBytes(StandardCharsets.US_ASCII));
            }
            case NPY -> npy(value);
            case NDARRAY -> ndarray(record, value);
        };
    }

    private MemorySegment ndarray(long record, Span value) throws IOException {
        try {
            array.read(value.segment(), value.byteOffset(), value.byteSize(),
                    RecordColumns.ndarrayType(field.column()));
        } catch (CodecException e) {
            throw new ConversionException(store.name(record) + ", field '" + columnName() + "': " + e.getMessage(), e);
        }
        return npy(NpyArray.header(array.dtype(), array.shape()), value.segment(), array.dataOffset(),
                array.dataBytes());
    }

    private MemorySegment npy(Span value) {
        TensorSpec spec = field.spec();
        if (spec.isVariable()) {
            long length = spec.rowBytes() == 0 ? 0 : value.byteSize() / spec.rowBytes();
            spec = spec.withLength(length);
        }
        long length = spec.rank() == 0 ? 0 : spec.dim(0);
        if (length != headerLength) {
            header = NpyArray.header(spec.dtype(), spec.shape());
            headerLength = length;
        }
        return npy(header, value.segment(), value.byteOffset(), value.byteSize());
    }

    private MemorySegment npy(byte[] head, MemorySegment data, long dataOffset, long dataBytes) {
        long bytes = head.length + dataBytes;
        MemorySegment memory = file.of(bytes);
        MemorySegment.copy(MemorySegment.ofArray(head), 0, memory, 0, head.length);
        MemorySegment.copy(data, dataOffset, memory, head.length, dataBytes);
        return memory.asSlice(0, bytes);
    }

    /** Throws an error that names this member's file if the file was truncated. */
    void explain(InternalError fault) {
        if (valueFile != null) {
            valueFile.checkUnchanged();
        }
        if (reader.explain(fault) instanceof RuntimeException shrunk) {
            throw shrunk;
        }
    }

    @Override
    public void close() {
        reader.close();
        file.close();
    }
}
