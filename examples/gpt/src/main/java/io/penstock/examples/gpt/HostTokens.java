// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A batch on the heap: arrays with an element for each token. */
final class HostTokens implements TokenBatch {

    /** Tokens, by their numbers in the vocabulary. */
    final int[] ids;
    /** Tokens before each token in its document. */
    final int[] positions;
    /** The next token, or {@link #IGNORED}. */
    final int[] labels;
    /** How many of the elements are used. */
    int rows;

    private final int context;
    private final Vocabulary vocabulary;

    HostTokens(int maxSequences, int context, Vocabulary vocabulary) {
        ids = new int[maxSequences * context];
        positions = new int[ids.length];
        labels = new int[ids.length];
        this.context = context;
        this.vocabulary = vocabulary;
    }

    static HostTokens of(TokenBatch batch) {
        return (HostTokens) batch;
    }

    @Override
    public int rows() {
        return rows;
    }

    /** The tokens that have a label. */
    int labelled() {
        int count = 0;
        for (int row = 0; row < rows; row++) {
            count += labels[row] == IGNORED ? 0 : 1;
        }
        return count;
    }

    @Override
    public Batch next(DataLoader loader) {
        return loader.next();
    }

    @Override
    public void read(Batch batch) {
        rows = batch.valid() * context;
        MemorySegment.copy(batch.tensor("position_ids").segment(), ValueLayout.JAVA_INT, 0, positions, 0, rows);
        MemorySegment tokens = batch.tensor("input_ids").segment();
        MemorySegment next = batch.tensor("labels").segment();
        for (int row = 0; row < rows; row++) {
            int label = next.getAtIndex(ValueLayout.JAVA_INT, row);
            labels[row] = label == IGNORED ? IGNORED : vocabulary.number(label);
            ids[row] = vocabulary.number(tokens.getAtIndex(ValueLayout.JAVA_INT, row));
        }
    }
}
