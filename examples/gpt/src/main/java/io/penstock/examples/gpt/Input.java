// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.collate.CausalLm;
import io.penstock.collate.PackedLm;
import io.penstock.collate.PackedLm.Field;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.state.LoaderState;
import io.penstock.store.TokenStore;
import io.penstock.transform.DocumentSeparator;
import io.penstock.transform.TokenStage;
import io.penstock.transform.TokenStage.Output;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * The text, by Penstock: sequences of two token stores, drawn from them in given proportions. Every tenth sequence is
 * held out for validation.
 *
 * <p>In either {@link Form} a batch has the {@code i32} fields {@code input_ids}, {@code labels} and
 * {@code position_ids}.
 */
final class Input implements AutoCloseable {

    /** How sequences are made of documents. */
    enum Form {
        /** Whole documents are packed into sequences, by the loader's workers. */
        PACKED,
        /**
         * Windows of the stores, across documents. They go to the device as the stores have them, two bytes a token;
         * ids, labels and positions are made of them there.
         */
        WINDOWS,
        /**
         * Windows as with {@link #WINDOWS}, in the order of {@code penstock batches --window --weights --seed}: so the
         * command line can tell what was in a step, and edit the run. Those that are held out are trained on, too.
         */
        PLAIN
    }

    /** The loader that trains; its threads have names that begin so. */
    static final String TRAINING = "training";

    private static final int HELD_OUT = 10;
    /** GPT-2's token that ends a document. */
    private static final long END_OF_TEXT = 50_256;

    private final List<TokenStore> stores;
    private final int context;
    private final Form form;
    private final Dataset dataset;
    /** The number of sequences of the first store; those of the second follow. */
    private final long firstSequences;

    private Input(List<TokenStore> stores, int context, Form form) {
        this.stores = stores;
        this.context = context;
        this.form = form;
        Documents first = Documents.of(stores.get(0));
        if (form == Form.PACKED) {
            // The packer packs a window of documents at a time. One as large as the first store keeps the stores apart.
            PackedSequences packed = Packing.of(first.concat(Documents.of(stores.get(1))), context)
                    .window(first.size()).pack();
            dataset = packed;
            firstSequences = LongStream.range(0, packed.size()).filter(s -> packed.document(s, 0) < first.size())
                    .count();
        } else {
            TokenWindows windows = TokenWindows.of(stores.get(0), context);
            dataset = windows.concat(TokenWindows.of(stores.get(1), context));
            firstSequences = windows.size();
        }
    }

    /** Opens two token stores, and makes sequences of {@code context} tokens of their documents. */
    static Input open(Path first, Path second, int context, Form form) throws IOException {
        TokenStore one = TokenStore.open(first);
        try {
            return new Input(List.of(one, TokenStore.open(second)), context, form);
        } catch (Throwable t) {
            one.close();
            throw t;
        }
    }

    /** The tokens of all sequences, found in one pass. */
    Vocabulary vocabulary() {
        BitSet found = new BitSet();
        try (DataLoader all = loader(Sampler.sequential(dataset.size()), 1, "vocabulary").open()) {
            for (Batch batch : all.epoch(0)) {
                try (batch) {
                    MemorySegment ids = batch.tensor("input_ids").segment();
                    MemorySegment labels = batch.tensor("labels").segment();
                    for (int i = 0; i < context; i++) {
                        found.set(ids.getAtIndex(ValueLayout.JAVA_INT, i));
                        int label = labels.getAtIndex(ValueLayout.JAVA_INT, i);
                        if (label != TokenBatch.IGNORED) {
                            found.set(label);
                        }
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
     * @param device where batches go
     */
    DataLoader training(int batchSize, double[] weights, long seed, LoaderState state, Device device) {
        return training(batchSize, weights, seed, state, device, null);
    }

    /** The same; what is delivered is written down in a ledger, unless that is null. */
    DataLoader training(int batchSize, double[] weights, long seed, LoaderState state, Device device, Path ledger) {
        DataLoaderBuilder loader = loader(order(weights, seed), batchSize, TRAINING).device(device);
        if (ledger != null) {
            loader.ledger(ledger);
        }
        return (state == null ? loader : loader.resume(state)).open();
    }

    private Sampler order(double[] weights, long seed) {
        if (form == Form.PLAIN) {
            return Mixture.of(dataset.size(), new Mixture.Source(Sampler.shuffled(firstSequences, seed), weights[0]),
                    new Mixture.Source(Sampler.shuffled(dataset.size() - firstSequences, seed), weights[1]));
        }
        long[] first = sequences(0, firstSequences, false);
        long[] second = sequences(firstSequences, dataset.size(), false);
        Sampler ofFirst = Sampler.subset(first, firstSequences, Sampler.shuffled(first.length, seed));
        Sampler ofSecond = Sampler.subset(LongStream.of(second).map(s -> s - firstSequences).toArray(),
                dataset.size() - firstSequences, Sampler.shuffled(second.length, seed + 1));
        return Mixture.of(first.length + second.length, new Mixture.Source(ofFirst, weights[0]),
                new Mixture.Source(ofSecond, weights[1]));
    }

    /** The held-out sequences, each once an epoch: the last batch is smaller. */
    DataLoader validation(int batchSize, Device device) {
        long[] heldOut = sequences(0, dataset.size(), true);
        return loader(Sampler.subset(heldOut, dataset.size(), Sampler.sequential(heldOut.length)), batchSize,
                "validation").role(Role.VALIDATION).device(device).open();
    }

    private DataLoaderBuilder loader(Sampler order, int batchSize, String name) {
        DataLoaderBuilder loader = DataLoader.builder(dataset).sampler(order).batchSize(batchSize).name(name)
                .workers(1).leases(LeaseMode.REUSED);
        return switch (form) {
            case PACKED -> loader.collator(PackedLm.of(DType.I32, EnumSet.of(Field.LABELS, Field.POSITION_IDS)));
            case WINDOWS, PLAIN -> loader.collator(CausalLm.narrow()).onDevice(TokenStage.of(DType.I32)
                    .documents(DocumentSeparator.endsWith(END_OF_TEXT))
                    .outputs(Output.INPUT_IDS, Output.LABELS, Output.POSITION_IDS));
        };
    }

    private static long[] sequences(long first, long end, boolean heldOut) {
        return LongStream.range(first, end).filter(s -> (s % HELD_OUT == HELD_OUT - 1) == heldOut).toArray();
    }

    @Override
    public String toString() {
        long documents = stores.stream().mapToLong(TokenStore::documentCount).sum();
        String sequences = String.format(Locale.ROOT, "%d + %d sequences of %d", firstSequences,
                dataset.size() - firstSequences,
                context);
        String made = dataset instanceof PackedSequences packed
                ? String.format(Locale.ROOT, "%s (%.1f %% padding)", sequences, 100 * packed.paddingShare())
                : sequences;
        return String.format(Locale.ROOT, "%,d tokens in %,d documents, %s %s, %d held out",
                stores.stream().mapToLong(TokenStore::tokenCount).sum(), documents,
                form == Form.PACKED ? "packed into" : "cut into", made, sequences(0, dataset.size(), true).length);
    }

    @Override
    public void close() {
        if (dataset instanceof PackedSequences packed) {
            packed.close();
        }
        stores.forEach(TokenStore::close);
    }
}
