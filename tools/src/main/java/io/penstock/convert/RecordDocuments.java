// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.dataset.RecordFields;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.util.List;

/**
 * A column of integer lists as documents, one per record. A record without a value is an empty document, so that
 * document and record numbers agree; or it is left out, if incomplete records are skipped.
 */
final class RecordDocuments implements DocumentSource {

    private static final String WHAT = "a list of integers";

    /** The usual names of the token column, in case a table has several integer lists. */
    private static final List<String> USUAL_NAMES = List.of("input_ids", "tokens");

    private final RecordStore store;
    private final int column;
    private final RecordFields records;
    private final SampleReader reader;

    private RecordDocuments(RecordStore store, RecordColumns.Field field, RecordFields records) {
        this.store = store;
        this.column = field.index();
        this.records = records;
        this.reader = new SampleReader(records, ReadMode.AUTO);
    }

    static RecordDocuments of(Conversion conversion, RecordStore store) throws IOException {
        List<RecordColumns.Field> found = new RecordColumns(conversion, store).fields(true,
                field -> field.isNumbers() && field.spec().rank() == 1 && field.spec().dtype().isInteger(), WHAT);
        RecordColumns.Field field = found.size() == 1 ? found.getFirst() : usual(conversion, found);
        List<String> left = found.stream().map(each -> each.spec().name())
                .filter(name -> !name.equals(field.spec().name())).toList();
        conversion.lose("columns", left);
        RecordFields all = RecordFields.of(store).and(field.spec().name(), field.decoder());
        RecordFields complete = all.complete();
        long absent = all.size() - complete.size();
        if (absent > 0) {
            conversion.lose(conversion.skipIncomplete ? absent + " records without a value"
                    : "missing values: " + absent + " records become empty documents");
        }
        return new RecordDocuments(store, field, conversion.skipIncomplete ? complete : all);
    }

    private static RecordColumns.Field usual(Conversion conversion, List<RecordColumns.Field> found) {
        for (String name : USUAL_NAMES) {
            for (RecordColumns.Field field : found) {
                if (conversion.fields == null && field.spec().name().equals(name)) {
                    return field;
                }
            }
        }
        throw new ConversionException("found several columns that could be the tokens, expected one: "
                + RecordColumns.some(
                found.stream().map(field -> field.spec().toString()).toList()) + " (select one with --fields)");
    }

    @Override
    public DType dtype() {
        return records.fields().getFirst().dtype();
    }

    @Override
    public long count() {
        return records.size();
    }

    @Override
    public long tokens() {
        return -1;
    }

    @Override
    public void read(long document, Sink sink) throws IOException {
        if (store.isPresent(records.record(document), column)) {
            sink.accept(reader.locate(document, 0));
        }
    }

    @Override
    public String name(long document) {
        return store.name(records.record(document));
    }

    @Override
    public void close() {
        reader.close();
    }
}
