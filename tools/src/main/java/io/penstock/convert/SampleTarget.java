// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.format.numpy.NpyArray;
import io.penstock.memory.Tensor;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes records as samples of named files, a member per column. A missing value gives no member; a record without any
 * gives no sample. Files of a folder whose names differ only in their suffix are one sample, as in {@code tar}.
 */
final class SampleTarget implements AutoCloseable {

    private static final String FILE_SUFFIX = "file";

    private final Conversion conversion;
    private final RecordStore store;
    private final Reading reading;
    private final SampleKeys keys;
    private final List<SampleMember> members = new ArrayList<>();
    private final Map<String, MemorySegment> sample = new LinkedHashMap<>();
    private long samples;
    private long empty;

    private SampleTarget(Conversion conversion, RecordStore store, Reading reading) {
        this.conversion = conversion;
        this.store = store;
        this.reading = reading;
        this.keys = new SampleKeys(store);
    }

    static Outcome write(StoreWriter.OfSamples format, Conversion conversion, Reading reading,
            Optional<AugmentedCopies> copies) throws IOException {
        try (SampleTarget target = new SampleTarget(conversion, (RecordStore) conversion.source, reading);
                StoreWriter.SampleSink writer = format.create(conversion.target, conversion.maxRecords,
                        conversion.maxBytes, conversion.ifExists)) {
            List<RecordColumns.Field> images = target.openMembers(copies);
            if (copies.isEmpty()) {
                target.writeSamples(writer);
            } else {
                target.writeCopies(copies.get(), images, writer);
            }
            return new Outcome(target.samples, writer.commit());
        }
    }

    /** Opens the columns as members, but for those that are augmented, which it returns. */
    private List<RecordColumns.Field> openMembers(Optional<AugmentedCopies> copies) throws IOException {
        RecordColumns columns = new RecordColumns(conversion, store);
        Map<String, String> columnOfSuffix = new HashMap<>();
        List<Integer> chosen = new ArrayList<>(columns.chosen());
        if (conversion.fields == null && keys.haveAllOf(store, store.keyColumn())) {
            chosen.remove((Integer) store.keyColumn());
        }
        List<RecordColumns.Field> images = copies.isEmpty() ? List.of() : images(columns, chosen, copies.get());
        for (RecordColumns.Field image : images) {
            chosen.remove((Integer) image.index());
            columnOfSuffix.put(suffix(image), image.column().name());
        }
        for (int c : chosen) {
            Column column = store.columns().get(c);
            SampleMember member = new SampleMember(store, columns.member(c), conversion.suffix(column.name()));
            members.add(member);
            reading.onFault(member::explain);
            String other = columnOfSuffix.put(member.suffix(), column.name());
            if (other != null) {
                throw new ConversionException("columns '" + other + "' and '" + column.name()
                        + "' would both have the suffix '" + member.suffix() + "' (name other suffixes)");
            }
        }
        if (keys.unusableName() != null) {
            conversion.lose("record names: '" + keys.unusableName()
                    + "' is not a valid or unique key, so all records are named by number");
        }
        return images;
    }

    private static List<RecordColumns.Field> images(RecordColumns columns, List<Integer> chosen, AugmentedCopies copies)
            throws IOException {
        List<RecordColumns.Field> fields = new ArrayList<>();
        for (int c : chosen) {
            RecordColumns.Field field = columns.field(c, false);
            if (field != null && (!field.spec().isVariable() || copies.hasFiles(field))) {
                fields.add(field);
            }
        }
        List<String> names = copies.images(fields.stream().map(RecordColumns.Field::spec).toList());
        return fields.stream().filter(field -> names.contains(field.spec().name())).toList();
    }

    private void writeSamples(StoreWriter.SampleSink writer) throws IOException {
        reading.expect(store.size());
        boolean grouped = store.keys() == RecordStore.Keys.FILES && keys.areNames()
                && members.stream().allMatch(member -> member.column() > 0 || member.isAsStored());
        String open = null;
        long incomplete = 0;
        for (long record = 0; record < store.size(); record++) {
            if (isLeftOut(record)) {
                incomplete++;
                reading.advance(1);
                continue;
            }
            String key = keys.key(record);
            if (!key.equals(open)) {
                write(writer, open);
                open = key;
            }
            add(record);
            if (!grouped) {
                write(writer, open);
                open = null;
            }
            reading.advance(1);
        }
        write(writer, open);
        conversion.loseIncomplete(incomplete);
        if (empty > 0) {
            conversion.lose(empty + " records without any value");
        }
    }

    /** Tells whether a record lacks a value and such records are skipped. */
    private boolean isLeftOut(long record) {
        return conversion.skipIncomplete
                && members.stream().anyMatch(member -> !store.isPresent(record, member.column()));
    }

    private String suffix(RecordColumns.Field image) {
        String given = conversion.suffix(image.column().name());
        return given != null ? given : image.column().name().toLowerCase(Locale.ROOT) + ".npy";
    }

    /** An array as a file. */
    static MemorySegment npy(Tensor array) {
        byte[] header = NpyArray.header(array.dtype(), array.shape());
        byte[] file = Arrays.copyOf(header, Math.toIntExact(header.length + array.byteSize()));
        MemorySegment.copy(array.segment(), ValueLayout.JAVA_BYTE, 0, file, header.length, file.length - header.length);
        return MemorySegment.ofArray(file);
    }

    /** Writes all copies: the augmented images as arrays, and the other columns as they are. */
    private void writeCopies(AugmentedCopies copies, List<RecordColumns.Field> images, StoreWriter.SampleSink writer)
            throws IOException {
        RecordFields records = copies.records(store, images);
        Dataset augmented = copies.mapped(records, images.stream().map(image -> image.spec().name()).toList());
        long written = LongStream.range(0, records.size()).filter(sample -> !isLeftOut(records.record(sample))).count();
        conversion.loseIncomplete(store.size() - written);
        images.forEach(image -> TensorTarget.loseDType(conversion, "npy", NpyArray::has,
                augmented.fields().get(augmented.indexOf(image.spec().name())).dtype()));
        reading.expect(records.size() * copies.setting().copies());
        copies.forEach(augmented, batch -> {
            for (int row = 0; row < batch.count(); row++) {
                long record = records.record(batch.sample(row));
                if (isLeftOut(record)) {
                    continue;
                }
                for (RecordColumns.Field image : images) {
                    Tensor pixels = batch.tensor(image.spec().name()).row(row);
                    sample.put(suffix(image), npy(pixels));
                }
                add(record);
                write(writer, keys.key(record) + "-" + batch.epoch());
            }
            reading.advance(batch.count());
        });
    }

    private void add(long record) throws IOException {
        for (SampleMember member : members) {
            MemorySegment file = member.file(record);
            boolean named = store.keys() == RecordStore.Keys.FILES && member.column() == 0 && member.isAsStored()
                    && conversion.suffix(member.columnName()) == null;
            String suffix = named ? suffixOf(store.name(record)) : member.suffix();
            if (named) {
                checkSuffix(store.name(record), suffix, member);
            }
            // The class column is the same for all files of a sample.
            if (file != null && sample.put(suffix, file) != null && member.column() == 0) {
                throw new ConversionException(store.name(record) + ": found two files '" + suffix
                        + "' of one sample, expected names that differ in more than case");
            }
        }
    }

    /** Fails if a file's own suffix is also that of another column, of which one would be lost. */
    private void checkSuffix(String file, String suffix, SampleMember own) {
        for (SampleMember other : members) {
            if (other != own && other.suffix().equals(suffix)) {
                throw new ConversionException(file + ": its suffix '" + suffix + "' is also that of column '"
                        + other.columnName() + "' (name another suffix for the column)");
            }
        }
    }

    /** Returns a file's suffix, from the first dot of its name. */
    private static String suffixOf(String path) {
        int dot = SampleKeys.endOfKey(path);
        return dot + 1 >= path.length() ? FILE_SUFFIX : path.substring(dot + 1).toLowerCase(Locale.ROOT);
    }

    private void write(StoreWriter.SampleSink writer, @Nullable String key) throws IOException {
        if (key == null) {
            return;
        }
        if (sample.isEmpty()) {
            empty++;
            return;
        }
        try {
            writer.write(key, sample);
            samples++;
        } catch (IllegalArgumentException e) {
            throw new ConversionException(e.getMessage() + " (name another suffix)", e);
        } finally {
            sample.clear();
        }
    }

    @Override
    public void close() {
        members.forEach(SampleMember::close);
    }
}
