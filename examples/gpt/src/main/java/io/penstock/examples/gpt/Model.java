// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * GPT-2 (Radford et al., 2019): layer norm before attention and MLP, learned positions, and one matrix for the
 * embedding and the logits. Weights are named and laid out as in GPT-2's own checkpoints.
 */
final class Model {

    /** y = x · weight + bias */
    private final class Linear {

        final int in;
        final int out;
        final Parameter weight;
        final Parameter bias;

        Linear(String name, int in, int out) {
            this.in = in;
            this.out = out;
            weight = parameter(name + ".weight", in, out);
            bias = parameter(name + ".bias", out);
        }

        void forward(Floats x, Floats y) {
            ops.linear(x, weight.weight(), bias.weight(), y, rows, in, out);
        }

        void backward(Floats x, Floats dy, Floats dx) {
            ops.linearBackward(x, weight.weight(), dy, dx, weight.gradient(), bias.gradient(), rows, in, out);
        }
    }

    /** A layer norm. */
    private final class Norm {

        final Parameter gain;
        final Parameter bias;

        Norm(String name) {
            gain = parameter(name + ".weight", shape.width());
            bias = parameter(name + ".bias", shape.width());
        }

        void forward(Floats x, Floats y) {
            ops.layerNorm(x, gain.weight(), bias.weight(), y, rows, shape.width());
        }

        /** Adds to dx, and overwrites y. */
        void backward(Floats x, Floats y, Floats dy, Floats dx) {
            ops.layerNormBackward(x, gain.weight(), y, dy, dx, gain.gradient(), bias.gradient(), rows, shape.width());
        }
    }

    /** A block's layers, and what its forward pass leaves for the backward pass. */
    private final class Block {

        final int width = shape.width();
        final Norm norm1;
        final Linear attention;
        final Linear attentionOut;
        final Norm norm2;
        final Linear mlp;
        final Linear mlpOut;

        final Floats input = rowsOf(width);
        final Floats normal1 = rowsOf(width);
        final Floats qkv = rowsOf(3 * width);
        final Floats attentionWeights = rowsOf(shape.heads() * shape.context());
        final Floats attended = rowsOf(width);
        final Floats middle = rowsOf(width);
        final Floats normal2 = rowsOf(width);
        final Floats hidden = rowsOf(4 * width);
        final Floats activated = rowsOf(4 * width);

        Block(String name) {
            norm1 = new Norm(name + ".ln_1");
            attention = new Linear(name + ".attn.c_attn", width, 3 * width);
            attentionOut = new Linear(name + ".attn.c_proj", width, width);
            norm2 = new Norm(name + ".ln_2");
            mlp = new Linear(name + ".mlp.c_fc", width, 4 * width);
            mlpOut = new Linear(name + ".mlp.c_proj", 4 * width, width);
        }

        void forward(TokenBatch batch, Floats output) {
            norm1.forward(input, normal1);
            attention.forward(normal1, qkv);
            ops.attention(batch, qkv, attentionWeights, attended, shape);
            attentionOut.forward(attended, middle);
            ops.add(middle, input, rows * width);
            norm2.forward(middle, normal2);
            mlp.forward(normal2, hidden);
            ops.gelu(hidden, activated, rows * 4 * width);
            mlpOut.forward(activated, output);
            ops.add(output, middle, rows * width);
        }

        /** Makes the gradient of the output that of the input. */
        void backward(TokenBatch batch, Floats gradient) {
            mlpOut.backward(activated, gradient, dHidden);
            ops.geluBackward(hidden, dHidden, dHidden, rows * 4 * width);
            mlp.backward(normal2, dHidden, dState);
            norm2.backward(middle, normal2, dState, gradient);
            attentionOut.backward(attended, gradient, dState);
            ops.attentionBackward(batch, qkv, attentionWeights, dState, dQkv, shape);
            attention.backward(normal1, dQkv, dState);
            norm1.backward(input, normal1, dState, gradient);
        }
    }

    private final Shape shape;
    private final Ops ops;
    private final int maxRows;
    private final List<Parameter> parameters = new ArrayList<>();

    private final Parameter embedding;
    private final Parameter positions;
    private final List<Block> blocks = new ArrayList<>();
    private final Norm lastNorm;

    private final Floats last;
    private final Floats lastNormal;
    private final Floats logits;
    private final Floats dLast;
    private final Floats dState;
    private final Floats dQkv;
    private final Floats dHidden;
    /** Tokens in the batch of the latest forward pass. */
    private int rows;

    /** A model with weights of 0 and room for batches of so many sequences. */
    Model(Shape shape, Ops ops, int maxSequences) {
        this.shape = shape;
        this.ops = ops;
        this.maxRows = maxSequences * shape.context();
        embedding = parameter("wte.weight", shape.vocabulary(), shape.width());
        positions = parameter("wpe.weight", shape.context(), shape.width());
        for (int layer = 0; layer < shape.layers(); layer++) {
            blocks.add(new Block("h." + layer));
        }
        lastNorm = new Norm("ln_f");
        last = rowsOf(shape.width());
        lastNormal = rowsOf(shape.width());
        logits = rowsOf(shape.vocabulary());
        dLast = rowsOf(shape.width());
        dState = rowsOf(shape.width());
        dQkv = rowsOf(3 * shape.width());
        dHidden = rowsOf(4 * shape.width());
    }

    private Parameter parameter(String name, int... dims) {
        Parameter parameter = Parameter.of(ops, name, dims);
        parameters.add(parameter);
        return parameter;
    }

    private Floats rowsOf(int columns) {
        return ops.allocate(Math.multiplyExact(maxRows, columns));
    }

    /** Draws weights as GPT-2 does: normal with deviation 0.02, less before a residual connection. */
    void initialize(long seed) {
        Random random = new Random(seed);
        for (Parameter each : parameters) {
            double deviation = each.name().endsWith("c_proj.weight") ? 0.02 / Math.sqrt(2 * shape.layers()) : 0.02;
            boolean isGain = !each.isMatrix() && each.name().endsWith(".weight");
            float[] values = new float[each.weight().size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = isGain ? 1 : each.isMatrix() ? (float) (deviation * random.nextGaussian()) : 0;
            }
            each.weight().copyFrom(values);
        }
    }

    Shape shape() {
        return shape;
    }

    List<Parameter> parameters() {
        return parameters;
    }

    /** The logits of the latest forward pass, {@code [rows, vocabulary]}. */
    Floats logits() {
        return logits;
    }

    /** Computes the logits of a batch. */
    void forward(TokenBatch batch) {
        rows = batch.rows();
        ops.embed(batch, embedding.weight(), positions.weight(), blocks.getFirst().input, shape.width());
        for (int b = 0; b < blocks.size(); b++) {
            blocks.get(b).forward(batch, b + 1 < blocks.size() ? blocks.get(b + 1).input : last);
        }
        lastNorm.forward(last, lastNormal);
        ops.logits(lastNormal, embedding.weight(), logits, rows, shape);
    }

    /** Adds the losses of the batch's labels to a slot, and replaces the logits by the gradient of their mean. */
    void loss(TokenBatch batch, Losses losses, int slot) {
        ops.crossEntropy(batch, logits, shape.vocabulary(), losses, slot);
    }

    /** Computes the gradients of all weights from what the forward pass and the loss have left. */
    void backward(TokenBatch batch) {
        parameters.forEach(each -> ops.fill(each.gradient(), 0));
        ops.logitsBackward(lastNormal, embedding.weight(), logits, dState, embedding.gradient(), rows, shape);
        ops.fill(dLast, 0);
        lastNorm.backward(last, lastNormal, dState, dLast);
        for (Block block : blocks.reversed()) {
            block.backward(batch, dLast);
        }
        ops.embedBackward(batch, dLast, embedding.gradient(), positions.gradient(), shape.width());
    }
}
