// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;

/**
 * A batch as the model takes it, where the kernels compute: on the heap ({@link HostTokens}), or in the memory of a GPU
 * ({@link CudaTokens}). Each token has its number in the vocabulary, its position in its document, and a label.
 * Sequences stand one behind the other.
 */
interface TokenBatch {

    /** The label of a token that has none: the last of a document, and padding. */
    int IGNORED = -100;

    /** The number of tokens: a multiple of the context. */
    int rows();

    /** Takes a loader's next batch; the caller closes it. */
    Batch next(DataLoader loader);

    /** Copies a batch of a loader, with tokens as the vocabulary numbers them. The batch may be closed right after. */
    void read(Batch batch);
}
