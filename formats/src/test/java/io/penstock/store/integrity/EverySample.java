// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.collate.Collator;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.format.lmdb.LmdbStore;
import io.penstock.io.ReadMode;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.TransferMode;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** Reads all samples that a loader can make of a store: documents; rows of each tensor; the values of each column. */
final class EverySample {

    private static final long MOST_SAMPLES = 2_000_000;
    private static final long MOST_BATCHED = 200;

    private EverySample() {
    }

    /**
     * Reads a store.
     *
     * @throws IOException if a part of it that a loader opens is refused
     * @throws UncheckedIOException if a sample cannot be read
     */
    static void read(Path path, Store store) throws IOException {
        switch (store) {
            case TokenStore tokens -> read(Documents.of(tokens));
            case TensorStore tensors -> readRows(tensors);
            case LmdbStore several when several.databases().size() > 1 -> {
                for (String database : several.databases()) {
                    try (RecordStore records = RecordStore.open(path, OpenOptions.DEFAULT.withMember(database))) {
                        readColumns(records);
                    }
                }
            }
            case RecordStore records -> readColumns(records);
        }
    }

    private static void readRows(TensorStore store) {
        List<TensorSpec> specs = store.tensors();
        for (int t = 0; t < specs.size(); t++) {
            if (specs.get(t).rank() == 0 || specs.get(t).byteSize() == 0) {
                store.tensor(t);
            } else {
                read(TensorRows.of("rows", store, t));
            }
        }
    }

    private static void readColumns(RecordStore store) {
        for (Column column : store.columns()) {
            read(RecordFields.of(store).and(column.name()).complete());
        }
    }

    /** Each sample by itself; and the first ones in batches, as a trainer has them. */
    private static void read(Dataset dataset) {
        long size = dataset.size();
        if (size == 0 || size > MOST_SAMPLES) {
            return;
        }
        try (SampleReader reader = new SampleReader(dataset, ReadMode.AUTO)) {
            for (long sample = 0; sample < size; sample++) {
                reader.check(sample, sample);
            }
        }
        Collator collator = StackAndPad.fields();
        if (size <= MOST_BATCHED && collator.layout(dataset, 8).capacityBytes() < 1 << 20) {
            try (DataLoader loader = DataLoader.builder(dataset).collator(collator).batchSize(8).workers(0)
                    .transfer(TransferMode.IN_PLACE).endEpoch(1).open()) {
                for (Batch batch : loader.epoch()) {
                    batch.close();
                }
            } catch (BatchException e) {
                throw e.getCause() instanceof UncheckedIOException io ? io : e;
            }
        }
    }
}
