// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Sampler;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.StoreWriter;
import io.penstock.store.StreamedTensor;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The augmented copies of all samples, made by a loader's workers: copy k of a sample is the loader's sample in epoch
 * k, in the store's order. Copy 0 of all samples comes first.
 */
record AugmentedCopies(Conversion conversion, Setting setting) {

    private static final String WHAT = "a field of numbers of one shape (decode images to one size)";
    private static final Set<String> FILES = Set.of("jpg", "jpeg", "jfif", "png", "image/jpeg", "image/png", "image");
    private static final long BATCH_BYTES = 4 << 20;
    private static final int MOST_ROWS = 64;

    /**
     * How samples are augmented; {@code images} are the fields that are changed alike, empty for the only field of
     * images.
     */
    record Setting(Augment augment, List<String> images, int copies, long seed, int workers) {
    }

    /** Receives the batches of all copies, in order. */
    @FunctionalInterface
    interface BatchSink {
        void accept(Batch batch) throws IOException;
    }

    /** Writes the copies as tensors, whose rows are sample 0's copy 0, sample 1's copy 0 and so on. */
    Outcome writeTensors(StoreWriter.OfTensors writer, Reading reading) throws IOException {
        Map<String, Dataset> fields = new LinkedHashMap<>();
        long rows = switch (conversion.source) {
            case RecordStore records -> ofRecords(records, fields);
            case TensorStore tensors -> ofTensors(tensors, fields);
            default -> throw refused(conversion.source);
        };
        List<String> images = images(fields.values().stream().map(one -> one.fields().getFirst()).toList());
        List<String> left = fields.entrySet().stream().filter(field -> !images.contains(field.getKey())
                && (field.getValue().fields().getFirst().isVariable()
                || !writer.isNamed() && conversion.fields == null)).map(Map.Entry::getKey).toList();
        conversion.lose("fields", left);
        fields.keySet().removeAll(left);
        if (!writer.isNamed() && fields.size() > 1) {
            throw new ConversionException(
                    conversion.format + " holds one field, found " + fields.keySet() + " (select one with --fields)");
        }
        if (!writer.isNamed()) {
            conversion.lose("name: " + fields.keySet().iterator().next());
        }
        reading.expect(rows * setting.copies * fields.size());
        List<StreamedTensor> tensors = new ArrayList<>();
        for (Map.Entry<String, Dataset> field : fields.entrySet()) {
            Dataset samples = images.contains(field.getKey()) ? mapped(field.getValue(), List.of(field.getKey()))
                    : field.getValue();
            tensors.add(tensor(samples, reading));
        }
        return TensorTarget.write(writer, conversion, tensors, Map.of(), rows * setting.copies);
    }

    private static ConversionException refused(Store store) {
        return new ConversionException("cannot augment " + store + ": expected tensors or records with images");
    }

    private StreamedTensor tensor(Dataset samples, Reading reading) {
        TensorSpec row = samples.fields().getFirst();
        long[] shape = LongStream.concat(LongStream.of(samples.size() * setting.copies), LongStream.of(row.shape()))
                .toArray();
        return new StreamedTensor(new TensorSpec(row.name(), row.dtype(), shape), out -> forEach(samples, batch -> {
            out.put(batch.tensor(row.name()).segment(), 0, batch.tensor(row.name()).byteSize());
            reading.advance(batch.count());
        }));
    }

    /** Adds the chosen columns, each as a dataset; returns the number of records that have all of them. */
    private long ofRecords(RecordStore store, Map<String, Dataset> fields) throws IOException {
        RecordFields all = RecordFields.of(store);
        List<RecordColumns.Field> columns = new RecordColumns(conversion, store).fields(false,
                field -> field.isNumbers() && !field.spec().isVariable() || hasFiles(field), WHAT);
        for (RecordColumns.Field column : columns) {
            all = all.and(column.spec().name(), column.decoder());
        }
        RecordFields chosen = conversion.skipIncomplete ? all.complete() : all;
        conversion.loseIncomplete(all.size() - chosen.size());
        if (store.keys() != RecordStore.Keys.NUMBERS) {
            conversion.lose("names of records");
        }
        for (RecordColumns.Field column : columns) {
            RecordFields one = RecordFields.of(store).and(column.spec().name(), column.decoder());
            fields.put(column.spec().name(), chosen.size() == all.size() ? one
                    : one.select(LongStream.range(0, chosen.size()).map(chosen::record).toArray()));
        }
        return chosen.size();
    }

    /** Adds the chosen tensors, each as a dataset of its rows; returns the number of rows. */
    private long ofTensors(TensorStore store, Map<String, Dataset> fields) {
        List<String> names = store.tensors().stream().map(TensorSpec::name).toList();
        for (String given : conversion.fields == null ? names : conversion.fields) {
            int tensor = TensorTarget.indexOf(store, given);
            String name = names.get(tensor);
            String field = name.isEmpty() ? TensorTarget.UNNAMED : name;
            try {
                fields.put(field, TensorRows.of(field, store, tensor));
            } catch (IllegalArgumentException e) {
                throw new ConversionException(e.getMessage() + " (select others with --fields)", e);
            }
        }
        List<Long> sizes = fields.values().stream().map(Dataset::size).distinct().toList();
        if (sizes.size() != 1) {
            throw new ConversionException("found tensors of " + sizes + " rows, expected one number (select them with"
                    + " fields)");
        }
        return sizes.getFirst();
    }

    /** Tells whether a column has image files as stored, which the pipeline decodes. */
    boolean hasFiles(RecordColumns.Field field) {
        Column column = field.column();
        if (column.kind() != Column.Kind.BYTES || conversion.decoder(column.name()) != null) {
            return false;
        }
        String encoding = column.encoding().isEmpty() ? column.name() : column.encoding();
        return setting.images.contains(column.name())
                || FILES.contains(encoding.substring(encoding.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT));
    }

    /** Returns the names of the fields to augment: those with numbers of one shape or with image files. */
    List<String> images(List<TensorSpec> fields) {
        List<String> unknown = setting.images.stream()
                .filter(image -> fields.stream().noneMatch(field -> field.name().equals(image))).toList();
        if (!unknown.isEmpty()) {
            throw new ConversionException("found no field of images " + unknown + ", expected some of "
                    + RecordColumns.some(fields));
        }
        List<String> found = setting.images.isEmpty() ? fields.stream()
                .filter(field -> Augment.areImages(field) || field.isVariable()).map(TensorSpec::name).toList()
                : setting.images;
        if (found.isEmpty() || setting.images.isEmpty() && found.size() > 1) {
            throw new ConversionException("found " + (found.isEmpty() ? "no images u8[H,W,C] of one size in "
                    + RecordColumns.some(fields) : "several fields of images: " + found) + ", expected "
                    + (found.isEmpty() ? "some (a decoder may give them)" : "the names of those to augment"));
        }
        return found;
    }

    Dataset mapped(Dataset samples, List<String> images) {
        try {
            Dataset augmented = samples;
            for (String image : images) {
                augmented = setting.augment.mapped(augmented, image);
            }
            return augmented;
        } catch (IllegalArgumentException e) {
            throw new ConversionException("augmenting " + images + ": " + e.getMessage(), e);
        }
    }

    void forEach(Dataset samples, BatchSink sink) throws IOException {
        long rowBytes = Math.max(1, samples.fields().stream().mapToLong(TensorSpec::byteSize).sum());
        try (DataLoader loader = DataLoader.builder(samples).sampler(Sampler.sequential(samples.size()))
                .batchSize(Math.clamp(BATCH_BYTES / rowBytes, 1, MOST_ROWS)).seed(setting.seed)
                .endEpoch(setting.copies).workers(setting.workers).withoutAccounts().open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    sink.accept(batch);
                }
            }
        } catch (LoaderInterruptedException e) {
            throw (IOException) new ClosedByInterruptException().initCause(e);
        } catch (BatchException e) {
            @Nullable Throwable cause = e.getCause();
            if (cause instanceof BadSampleException bad) {
                throw new ConversionException(bad.getMessage(), e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Returns the records of the images, decoded and augmented, without the other columns. */
    RecordFields records(RecordStore store, List<RecordColumns.Field> images) throws IOException {
        RecordFields fields = RecordFields.of(store);
        for (RecordColumns.Field image : images) {
            fields = fields.and(image.spec().name(), image.decoder());
        }
        return conversion.skipIncomplete ? fields.complete() : fields;
    }
}
