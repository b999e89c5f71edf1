// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.collate.PackedLm;
import io.penstock.collate.PackedLm.Field;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.loader.Role;
import io.penstock.sampling.LoaderState;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The text, by Penstock: the documents of two token stores, packed into sequences, and drawn from the stores in given
 * proportions. Every tenth sequence is held out for validation.
 */
final class Input implements AutoCloseable {

    /** The loader that trains; its threads have names that begin so. */
    static final String TRAINING = "training";

    private static final int HELD_OUT = 10;

    private final List<TokenStore> stores;
    private final int context;
    private final PackedSequences packed;
    /** The number of sequences of the first store; those of the second follow. */
    private final long firstSequences;

    private Input(List<TokenStore> stores, int context) {
        this.stores = stores;
        this.context = context;
        Documents first = Documents.of(stores.get(0));
        // The packer packs a window of documents at a time. One as large as the first store keeps the stores apart.
        packed = Packing.of(first.concat(Documents.of(stores.get(1))), context).window(first.size()).pack();
        firstSequences = LongStream.range(0, packed.size()).filter(s -> packed.document(s, 0) < first.size()).count();
    }

    /** Opens two token stores and packs their documents into sequences of {@code context} tokens. */
    static Input open(Path first, Path second, int context) throws IOException {
        TokenStore one = TokenStore.open(first);
        try {
            return new Input(List.of(one, TokenStore.open(second)), context);
        } catch (Throwable t) {
            one.close();
            throw t;
        }
    }

    /** The tokens of all sequences, found in one pass. */
    Vocabulary vocabulary() {
        BitSet found = new BitSet();
        try (DataLoader all = loader(Sampler.sequential(packed.size()), 1, "vocabulary").open()) {
            for (Batch batch : all.epoch(0)) {
                try (batch) {
                    MemorySegment ids = batch.tensor("input_ids").segment();
                    for (int i = 0; i < context; i++) {
                        found.set(ids.getAtIndex(ValueLayout.JAVA_INT, i));
                    }
                }
            }
        }
        return Vocabulary.of(found);
    }

    /**
     * Sequences of both stores, without end. Each store is shuffled anew whenever it has been gone through.
     *
     * @param weights the share of each store
     * @param state where to go on, or null to begin
     */
    DataLoader training(int batchSize, double[] weights, long seed, LoaderState state) {
        long[] first = sequences(0, firstSequences, false);
        long[] second = sequences(firstSequences, packed.size(), false);
        Sampler ofFirst = Sampler.subset(first, firstSequences, Sampler.shuffled(first.length, seed));
        Sampler ofSecond = Sampler.subset(LongStream.of(second).map(s -> s - firstSequences).toArray(),
                packed.size() - firstSequences, Sampler.shuffled(second.length, seed + 1));
        Sampler mixture = Mixture.of(first.length + second.length, new Mixture.Source(ofFirst, weights[0]),
                new Mixture.Source(ofSecond, weights[1]));
        DataLoaderBuilder loader = loader(mixture, batchSize, TRAINING);
        return (state == null ? loader : loader.resume(state)).open();
    }

    /** The held-out sequences, each once an epoch: the last batch is smaller. */
    DataLoader validation(int batchSize) {
        long[] heldOut = sequences(0, packed.size(), true);
        return loader(Sampler.subset(heldOut, packed.size(), Sampler.sequential(heldOut.length)), batchSize,
                "validation").role(Role.VALIDATION).open();
    }

    private DataLoaderBuilder loader(Sampler order, int batchSize, String name) {
        return DataLoader.builder(packed).sampler(order).batchSize(batchSize).name(name)
                .collator(PackedLm.of(TokenWidth.I32, EnumSet.of(Field.LABELS, Field.POSITION_IDS)))
                .workers(1).leases(LeaseMode.REUSED);
    }

    private static long[] sequences(long first, long end, boolean heldOut) {
        return LongStream.range(first, end).filter(s -> (s % HELD_OUT == HELD_OUT - 1) == heldOut).toArray();
    }

    /** Copies a batch, with tokens as the vocabulary numbers them. */
    void read(Batch batch, Vocabulary vocabulary, TokenBatch to) {
        to.rows = batch.valid() * context;
        MemorySegment.copy(batch.tensor("position_ids").segment(), ValueLayout.JAVA_INT, 0, to.positions, 0, to.rows);
        MemorySegment ids = batch.tensor("input_ids").segment();
        MemorySegment labels = batch.tensor("labels").segment();
        for (int row = 0; row < to.rows; row++) {
            int label = labels.getAtIndex(ValueLayout.JAVA_INT, row);
            to.labels[row] = label == PackedLm.IGNORED ? TokenBatch.IGNORED : vocabulary.number(label);
            to.ids[row] = vocabulary.number(ids.getAtIndex(ValueLayout.JAVA_INT, row));
        }
    }

    @Override
    public String toString() {
        long heldOut = sequences(0, packed.size(), true).length;
        return "%,d tokens in %,d documents, packed into %d + %d sequences of %d (%.1f %% padding), %d held out"
                .formatted(packed.tokenCount(), packed.packing().documents().size(), firstSequences,
                        packed.size() - firstSequences, context, 100 * packed.paddingShare(), heldOut);
    }

    @Override
    public void close() {
        packed.close();
        stores.forEach(TokenStore::close);
    }
}
