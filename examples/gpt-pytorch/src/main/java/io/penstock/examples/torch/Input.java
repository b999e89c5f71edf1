// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import io.penstock.collate.PackedLm;
import io.penstock.collate.PackedLm.Field;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.device.Device;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.state.LoaderState;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Locale;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Documents of a token store, packed into sequences. Every tenth sequence is held out for validation. */
final class Input implements AutoCloseable {

    private static final int HELD_OUT = 10;

    private final TokenStore store;
    private final PackedSequences sequences;
    private final int context;

    private Input(TokenStore store, int context) {
        this.store = store;
        this.context = context;
        this.sequences = Packing.of(Documents.of(store), context).pack();
    }

    static Input open(Path store, int context) throws IOException {
        return new Input(TokenStore.open(store), context);
    }

    /** The tokens that occur, ascending; found in one pass. */
    long[] tokens() {
        BitSet found = new BitSet();
        try (DataLoader all = loader(LongStream.range(0, sequences.size()).toArray(), null, 1, "vocabulary")
                .endEpoch(1).open()) {
            for (Batch batch : all.epoch()) {
                try (batch) {
                    for (long id : batch.tensor("input_ids").segment().toArray(ValueLayout.JAVA_LONG)) {
                        found.set((int) id);
                    }
                    for (long id : batch.tensor("labels").segment().toArray(ValueLayout.JAVA_LONG)) {
                        if (id >= 0) {
                            found.set((int) id);
                        }
                    }
                }
            }
        }
        return found.stream().asLongStream().toArray();
    }

    /**
     * Sequences in a shuffled order, another in each epoch.
     *
     * @param epochs how many; 0 for no end
     */
    DataLoader training(int batchSize, long seed, long epochs, Shard shard, @Nullable LoaderState state,
            Device device) {
        DataLoaderBuilder loader = loader(chosen(false), seed, batchSize, "training").device(device).shard(shard);
        if (epochs > 0) {
            loader.endEpoch(epochs);
        }
        return (state == null ? loader : loader.resume(state)).open();
    }

    /** The held-out sequences, each once an epoch: the last batch is smaller. */
    DataLoader validation(int batchSize, Device device) {
        return loader(chosen(true), null, batchSize, "validation").role(Role.VALIDATION).device(device).open();
    }

    private DataLoaderBuilder loader(long[] samples, @Nullable Long seed, int batchSize, String name) {
        Sampler order = seed == null ? Sampler.sequential(samples.length) : Sampler.shuffled(samples.length, seed);
        return DataLoader.builder(sequences).sampler(Sampler.subset(samples, sequences.size(), order))
                .batchSize(batchSize).name(name).workers(1).leases(LeaseMode.REUSED)
                .collator(PackedLm.of(DType.I64, EnumSet.of(Field.LABELS, Field.POSITION_IDS, Field.DOCUMENT_IDS)));
    }

    private long[] chosen(boolean heldOut) {
        return LongStream.range(0, sequences.size()).filter(s -> (s % HELD_OUT == HELD_OUT - 1) == heldOut).toArray();
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d tokens in %,d documents, packed into %,d sequences of %d"
                + " (%.1f %% padding)", store.tokenCount(), store.documentCount(), sequences.size(), context,
                100 * sequences.paddingShare());
    }

    @Override
    public void close() {
        sequences.close();
        store.close();
    }
}
