// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.dataset.RecordFields;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.format.MissingValue;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.RecordStore;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreWriter;
import io.penstock.store.StreamedTensor;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Writes one tensor, or several with names, without holding one in memory. */
final class TensorTarget {

    /** The tensor name for a token store's tokens. */
    static final String TOKENS = "tokens";
    static final String DOCUMENT_STARTS = "document_starts";
    static final String LOSS_MASK = "loss_mask";
    /** The tensor name for a format without names. */
    static final String UNNAMED = "array";

    private static final String WHAT = "a field of numbers of one shape";

    private final StoreWriter.OfTensors writer;
    private final Conversion conversion;
    private final Reading reading;
    private final boolean one;

    private TensorTarget(StoreWriter.OfTensors writer, Conversion conversion, Reading reading) {
        this.writer = writer;
        this.conversion = conversion;
        this.reading = reading;
        this.one = !writer.isNamed();
    }

    static Outcome write(StoreWriter.OfTensors writer, Conversion conversion, Reading reading) throws IOException {
        TensorTarget target = new TensorTarget(writer, conversion, reading);
        return switch (conversion.source) {
            case TokenStore tokens -> target.write(target.tokens(tokens), Map.of(), tokens.documentCount());
            case TensorStore tensors -> {
                List<StreamedTensor> streamed = target.tensors(tensors);
                StoreDetails details = StoreDetails.of(tensors);
                details.lose(conversion, !target.one);
                yield target.write(streamed, details.metadata(), streamed.size());
            }
            case RecordStore records -> target.records(records);
        };
    }

    private Outcome write(List<StreamedTensor> tensors, Map<String, String> metadata, long records) throws IOException {
        return write(writer, conversion, tensors, metadata, records);
    }

    /** Writes the tensors, and records dtypes that the format lacks. */
    static Outcome write(StoreWriter.OfTensors writer, Conversion conversion, List<StreamedTensor> tensors,
            Map<String, String> metadata, long records) throws IOException {
        Outcome outcome;
        try {
            outcome = new Outcome(records,
                    writer.write(conversion.target, tensors, metadata, conversion.ifExists));
        } catch (IllegalArgumentException e) {
            throw new ConversionException(e.getMessage(), e);
        }
        for (StreamedTensor tensor : tensors) {
            loseDType(conversion, conversion.format.name(), writer::has, tensor.spec().dtype());
        }
        return outcome;
    }

    static void loseDType(Conversion conversion, String format, Predicate<DType> has, DType dtype) {
        if (!has.test(dtype)) {
            conversion.lose("dtype: " + format + " has no " + dtype + "; its elements become untyped bytes");
        }
    }

    private List<StreamedTensor> tokens(TokenStore store) {
        long tokenBytes = store.tokenCount() * store.dtype().byteSize();
        List<StreamedTensor> tensors = new ArrayList<>();
        tensors.add(new StreamedTensor(new TensorSpec(TOKENS, store.dtype(), store.tokenCount()), out -> {
            Span span = new Span();
            if (store.isOneRun()) {
                store.locate(0, store.tokenCount(), span);
                copy(span, out);
                return;
            }
            TokenDocuments documents = new TokenDocuments(store, span);
            for (long d = 0; d < store.documentCount(); d++) {
                documents.read(d, tokensOfIt -> copy(tokensOfIt, out));
            }
        }));
        reading.expect(tokenBytes);
        TokenDocuments.loseSequences(conversion, store);
        if (one) {
            if (store.documentCount() > 1) {
                conversion.lose("document boundaries: " + store.documentCount() + " documents");
            }
            if (TokenDocuments.hasLossMask(store)) {
                conversion.lose("loss mask");
            }
            return tensors;
        }
        tensors.add(new StreamedTensor(new TensorSpec(DOCUMENT_STARTS, DType.I64, store.documentCount() + 1), out -> {
            MemorySegment start = MemorySegment.ofArray(new byte[Long.BYTES]);
            for (long d = 0; d <= store.documentCount(); d++) {
                start.set(LittleEndian.I64, 0, store.documentStart(d));
                out.put(start, 0, Long.BYTES);
            }
        }));
        if (TokenDocuments.hasLossMask(store)) {
            ((StoreInfo.Described) store).info().arrays().stream().filter(array -> array.name().equals(LOSS_MASK))
                    .forEach(array -> tensors.add(StreamedTensor.of(LOSS_MASK, array.tensor())));
        }
        return tensors;
    }

    private List<StreamedTensor> tensors(TensorStore store) {
        List<TensorSpec> specs = store.tensors();
        Set<Integer> chosen = new LinkedHashSet<>();
        if (one) {
            chosen.add(theOne(conversion, store, _ -> true, "a tensor"));
        } else if (conversion.fields == null) {
            for (int i = 0; i < specs.size(); i++) {
                chosen.add(i);
            }
        } else {
            for (String name : conversion.fields.stream().map(store::nameOf).distinct().toList()) {
                chosen.add(indexOf(store, name));
            }
        }
        List<String> left = new ArrayList<>();
        for (int i = 0; i < specs.size(); i++) {
            if (!chosen.contains(i)) {
                left.add(specs.get(i).name());
            }
        }
        conversion.lose("tensors", left);
        for (int index : chosen) {
            if (one && !specs.get(index).name().isEmpty()) {
                conversion.lose("name: " + specs.get(index).name());
            }
        }
        reading.expect(chosen.stream().mapToLong(i -> specs.get(i).byteSize()).sum());
        return chosen.stream().map(i -> tensor(store, i)).toList();
    }

    /** Returns the selected tensor, or the only one that fits. */
    static int theOne(Conversion conversion, TensorStore store, Predicate<TensorSpec> fits, String what) {
        List<TensorSpec> specs = store.tensors();
        if (conversion.fields != null && conversion.fields.size() == 1) {
            return indexOf(store, conversion.fields.getFirst());
        }
        List<TensorSpec> found = specs.stream().filter(fits).toList();
        if (found.size() != 1 || conversion.fields != null) {
            throw new ConversionException(conversion.format + " holds " + what + ", found "
                    + RecordColumns.some(found) + " (select one with --fields)");
        }
        return specs.indexOf(found.getFirst());
    }

    static int indexOf(TensorStore store, String given) {
        String name = store.nameOf(given);
        List<String> names = store.tensors().stream().map(TensorSpec::name).toList();
        if (!names.contains(name)) {
            String why = store.unread().get(name);
            throw new ConversionException((why == null ? "found no tensor '" + name + "'" : "tensor '"
                    + name + "' cannot be read: " + why) + ", expected one of " + RecordColumns.some(names));
        }
        return names.indexOf(name);
    }

    private StreamedTensor tensor(TensorStore store, int index) {
        TensorSpec spec = store.tensors().get(index);
        String name = spec.name().isEmpty() ? UNNAMED : spec.name();
        return new StreamedTensor(new TensorSpec(name, spec.dtype(), spec.shape()), out -> {
            Span span = new Span();
            if (spec.rank() == 0) {
                MemorySegment scalar = store.tensor(index).segment();
                span.set(scalar, 0, scalar.byteSize());
                copy(span, out);
                return;
            }
            long step = Math.max(1, Reading.STEP_BYTES / Math.max(1, spec.rowBytes()));
            for (long row = 0; spec.byteSize() > 0 && row < spec.dim(0); row += step) {
                store.locate(index, row, Math.min(step, spec.dim(0) - row), span);
                copy(span, out);
            }
        });
    }

    private void copy(Span span, StreamedTensor.Sink out) throws IOException {
        reading.copy(span, (piece, offset, bytes) -> {
            out.put(piece, offset, bytes);
            reading.advance(bytes);
        });
    }

    private Outcome records(RecordStore store) throws IOException {
        List<RecordColumns.Field> fields = new RecordColumns(conversion, store).fields(false,
                field -> field.isNumbers() && !field.spec().isVariable(), WHAT);
        if (one && fields.size() > 1) {
            throw new ConversionException(conversion.format + " holds one column, found " + RecordColumns.some(
                    fields.stream().map(RecordColumns.Field::spec).toList()) + " (select one with --fields)");
        }
        RecordFields all = RecordFields.of(store);
        for (RecordColumns.Field field : fields) {
            all = all.and(field.spec().name(), field.decoder());
        }
        RecordFields records = conversion.skipIncomplete ? all.complete() : all;
        conversion.loseIncomplete(all.size() - records.size());
        if (store.keys() != RecordStore.Keys.NUMBERS) {
            conversion.lose("names of records");
        }
        if (one) {
            conversion.lose("name: " + fields.getFirst().spec().name());
        }
        reading.expect(records.size() * fields.size());
        try (SampleReader reader = new SampleReader(records, ReadMode.AUTO)) {
            List<StreamedTensor> tensors = new ArrayList<>();
            for (int f = 0; f < fields.size(); f++) {
                tensors.add(stack(store, records, reader, fields.get(f), f));
            }
            return write(tensors, Map.of(), records.size());
        }
    }

    private StreamedTensor stack(RecordStore store, RecordFields records, SampleReader reader,
            RecordColumns.Field field, int f) {
        long[] shape = new long[field.spec().rank() + 1];
        shape[0] = records.size();
        System.arraycopy(field.spec().shape(), 0, shape, 1, field.spec().rank());
        return new StreamedTensor(new TensorSpec(field.spec().name(), field.spec().dtype(), shape), out -> {
            for (long sample = 0; sample < records.size(); sample++) {
                if (!store.isPresent(records.record(sample), field.index())) {
                    throw new ConversionException(store.name(records.record(sample)) + ": found no value in '"
                            + field.spec().name()
                            + "', expected one in each record (" + MissingValue.LEFT_OUT + ")");
                }
                reading.copy(reader.locate(sample, f), out);
                reading.advance(1);
            }
        });
    }
}
