// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import io.penstock.device.Device;
import java.util.List;

/**
 * The kernels that a {@link Model} is made of, in Java ({@link CpuOps}) or in CUDA ({@link CudaOps}), and the memory
 * that they work on.
 *
 * <p>Matrices are row-major. A parameter named {@code d…} is a gradient; gradients of weights and biases are added to,
 * others are replaced unless it says otherwise.
 */
interface Ops extends AutoCloseable {

    /** Where loaders send their batches. */
    Device device();

    /** Zeros. */
    Floats allocate(int size);

    /** Room for a batch. */
    TokenBatch tokens(int maxSequences, int context, Vocabulary vocabulary);

    Losses losses();

    void fill(Floats x, float value);

    /** x += y */
    void add(Floats x, Floats y, int count);

    /** x[row] = tokens[id of row] + positions[position of row] */
    void embed(TokenBatch batch, Floats tokens, Floats positions, Floats x, int width);

    void embedBackward(TokenBatch batch, Floats dx, Floats dTokens, Floats dPositions, int width);

    /** y[rows, out] = x[rows, in] · weight[in, out] + bias */
    void linear(Floats x, Floats weight, Floats bias, Floats y, int rows, int in, int out);

    void linearBackward(Floats x, Floats weight, Floats dy, Floats dx, Floats dWeight, Floats dBias, int rows, int in,
            int out);

    void layerNorm(Floats x, Floats gain, Floats bias, Floats y, int rows, int width);

    /** Adds to dx, and overwrites y. */
    void layerNormBackward(Floats x, Floats gain, Floats y, Floats dy, Floats dx, Floats dGain, Floats dBias, int rows,
            int width);

    void gelu(Floats x, Floats y, int count);

    /** dx = dy · gelu'(x); they may be the same. */
    void geluBackward(Floats x, Floats dy, Floats dx, int count);

    /**
     * Causal self-attention within documents.
     *
     * @param qkv queries, keys and values, {@code [rows, 3 · width]}
     * @param weights receives the weights of all heads, {@code [sequences, heads, context, context]}
     */
    void attention(TokenBatch batch, Floats qkv, Floats weights, Floats y, Shape shape);

    void attentionBackward(TokenBatch batch, Floats qkv, Floats weights, Floats dy, Floats dQkv, Shape shape);

    /** logits[rows, vocabulary] = x[rows, width] · embeddingᵀ */
    void logits(Floats x, Floats embedding, Floats logits, int rows, Shape shape);

    void logitsBackward(Floats x, Floats embedding, Floats dLogits, Floats dx, Floats dEmbedding, int rows,
            Shape shape);

    /**
     * Adds the losses of a batch's labels to a slot of {@code losses}, and replaces the logits by the gradient of their
     * mean.
     */
    void crossEntropy(TokenBatch batch, Floats logits, int vocabulary, Losses losses, int slot);

    /** scale[0] = what shortens the gradients of all parameters to a norm of {@code maxNorm}, at most 1. */
    void clip(List<Parameter> parameters, double maxNorm, Floats scale);

    /** One step of AdamW; {@code scale[0]} multiplies the gradient. */
    void adamW(Parameter parameter, Floats scale, AdamW.Rates rates, float decay);

    @Override
    void close();
}
