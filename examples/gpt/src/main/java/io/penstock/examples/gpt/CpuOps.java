// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static io.penstock.examples.gpt.HostFloats.matrix;

import io.penstock.device.Device;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntBinaryOperator;

/**
 * The kernels in Java: matrix products and exponentials by the Vector API, the rest as loops that the JIT compiler
 * vectorizes.
 */
final class CpuOps implements Ops {

    private static final int TASK_ROWS = 32;
    private static final int TASK_COLUMNS = 32;
    private static final int TASK_FLOATS = 1 << 14;

    private final Device device = Device.host();
    private final Threads threads;

    CpuOps(int threads) {
        this.threads = new Threads(threads);
    }

    /** A part of a range, from {@code first} up to {@code end}. */
    private interface Part {
        void run(int first, int end);
    }

    private void inParts(int count, int partSize, Part part) {
        threads.forEach(Math.ceilDiv(count, partSize),
                i -> part.run(i * partSize, Math.min(count, (i + 1) * partSize)));
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public Floats allocate(int size) {
        return new HostFloats(new float[size], 0, size);
    }

    @Override
    public TokenBatch tokens(int maxSequences, int context, Vocabulary vocabulary) {
        return new HostTokens(maxSequences, context, vocabulary);
    }

    /** One sum, which costs nothing to read. */
    private static final class Sums implements Losses {

        private double loss;
        private long labels;

        @Override
        public int slots() {
            return 1;
        }

        @Override
        public List<Sum> read(int count) {
            Sum sum = new Sum(loss, labels);
            loss = 0;
            labels = 0;
            return List.of(sum).subList(0, count);
        }
    }

    @Override
    public Losses losses() {
        return new Sums();
    }

    @Override
    public void fill(Floats x, float value) {
        HostFloats host = HostFloats.of(x);
        Arrays.fill(host.array(), host.offset(), host.offset() + host.size(), value);
    }

    @Override
    public void add(Floats x, Floats y, int count) {
        HostFloats to = HostFloats.of(x);
        HostFloats from = HostFloats.of(y);
        inParts(count, TASK_FLOATS, (first, end) -> {
            for (int i = first; i < end; i++) {
                to.array()[to.offset() + i] += from.array()[from.offset() + i];
            }
        });
    }

    @Override
    public void embed(TokenBatch tokenBatch, Floats tokens, Floats positions, Floats x, int width) {
        HostTokens batch = HostTokens.of(tokenBatch);
        HostFloats token = HostFloats.of(tokens);
        HostFloats position = HostFloats.of(positions);
        HostFloats out = HostFloats.of(x);
        inParts(batch.rows, TASK_ROWS, (first, end) -> {
            for (int row = first; row < end; row++) {
                int to = out.offset() + row * width;
                int t = token.offset() + batch.ids[row] * width;
                int p = position.offset() + batch.positions[row] * width;
                for (int i = 0; i < width; i++) {
                    out.array()[to + i] = token.array()[t + i] + position.array()[p + i];
                }
            }
        });
    }

    /** A task has some columns of all rows, and adds them in the order of rows. */
    @Override
    public void embedBackward(TokenBatch tokenBatch, Floats dx, Floats dTokens, Floats dPositions, int width) {
        HostTokens batch = HostTokens.of(tokenBatch);
        addRows(dx, batch.rows, width, dTokens, (row, column) -> batch.ids[row] * width + column);
        addRows(dx, batch.rows, width, dPositions, (row, column) -> batch.positions[row] * width + column);
    }

    /** Adds each row of x to where {@code index} says that it goes. */
    private void addRows(Floats x, int rows, int width, Floats sums, IntBinaryOperator index) {
        HostFloats from = HostFloats.of(x);
        HostFloats to = HostFloats.of(sums);
        inParts(width, TASK_COLUMNS, (first, end) -> {
            for (int row = 0; row < rows; row++) {
                int source = from.offset() + row * width + first;
                int target = to.offset() + index.applyAsInt(row, first);
                for (int i = 0; i < end - first; i++) {
                    to.array()[target + i] += from.array()[source + i];
                }
            }
        });
    }

    @Override
    public void linear(Floats x, Floats weight, Floats bias, Floats y, int rows, int in, int out) {
        HostFloats from = HostFloats.of(bias);
        Matrix to = matrix(y, rows, out);
        inParts(rows, TASK_ROWS, (first, end) -> {
            for (int row = first; row < end; row++) {
                System.arraycopy(from.array(), from.offset(), to.array(), to.at(row, 0), out);
            }
        });
        Matmul.multiply(threads, matrix(x, rows, in), matrix(weight, in, out), to, true);
    }

    @Override
    public void linearBackward(Floats x, Floats weight, Floats dy, Floats dx, Floats dWeight, Floats dBias, int rows,
            int in, int out) {
        Matrix gradient = matrix(dy, rows, out);
        Matmul.multiply(threads, gradient, matrix(weight, in, out).transposed(), matrix(dx, rows, in), false);
        Matmul.multiply(threads, matrix(x, rows, in).transposed(), gradient, matrix(dWeight, in, out), true);
        addRows(dy, rows, out, dBias, (row, column) -> column);
    }

    @Override
    public void layerNorm(Floats x, Floats gain, Floats bias, Floats y, int rows, int width) {
        inParts(rows, TASK_ROWS, (first, end) -> LayerNorm.forward(matrix(x, rows, width), HostFloats.of(gain),
                HostFloats.of(bias), matrix(y, rows, width), first, end));
    }

    @Override
    public void layerNormBackward(Floats x, Floats gain, Floats y, Floats dy, Floats dx, Floats dGain, Floats dBias,
            int rows, int width) {
        Matrix gradient = matrix(dy, rows, width);
        Matrix normals = matrix(y, rows, width);
        inParts(rows, TASK_ROWS, (first, end) -> LayerNorm.backward(matrix(x, rows, width), HostFloats.of(gain),
                gradient, matrix(dx, rows, width), normals, first, end));
        addRows(dy, rows, width, dBias, (row, column) -> column);
        inParts(rows * width, TASK_FLOATS, (first, end) -> {
            for (int i = first; i < end; i++) {
                normals.array()[normals.offset() + i] *= gradient.array()[gradient.offset() + i];
            }
        });
        addRows(y, rows, width, dGain, (row, column) -> column);
    }

    @Override
    public void gelu(Floats x, Floats y, int count) {
        HostFloats from = HostFloats.of(x);
        HostFloats to = HostFloats.of(y);
        inParts(count, TASK_FLOATS, (first, end) -> Gelu.forward(from.array(), from.offset() + first, to.array(),
                to.offset() + first, end - first));
    }

    @Override
    public void geluBackward(Floats x, Floats dy, Floats dx, int count) {
        HostFloats at = HostFloats.of(x);
        HostFloats from = HostFloats.of(dy);
        HostFloats to = HostFloats.of(dx);
        inParts(count, TASK_FLOATS, (first, end) -> Gelu.backward(at.array(), at.offset() + first, from.array(),
                from.offset() + first, to.array(), to.offset() + first, end - first));
    }

    @Override
    public void attention(TokenBatch tokenBatch, Floats qkv, Floats weights, Floats y, Shape shape) {
        HostTokens batch = HostTokens.of(tokenBatch);
        Matrix out = matrix(y, batch.rows, shape.width());
        threads.forEach(batch.rows / shape.context() * shape.heads(), task -> {
            int row = task / shape.heads() * shape.context();
            int head = task % shape.heads();
            Attention.forward(head(qkv, batch.rows, row, head, shape), batch.positions, row,
                    weights(weights, task, shape),
                    out.block(row, head * shape.headSize(), shape.context(), shape.headSize()));
        });
    }

    @Override
    public void attentionBackward(TokenBatch batch, Floats qkv, Floats weights, Floats dy, Floats dQkv, Shape shape) {
        Matrix gradient = matrix(dy, batch.rows(), shape.width());
        threads.forEach(batch.rows() / shape.context() * shape.heads(), task -> {
            int row = task / shape.heads() * shape.context();
            int head = task % shape.heads();
            Attention.backward(head(qkv, batch.rows(), row, head, shape), weights(weights, task, shape),
                    gradient.block(row, head * shape.headSize(), shape.context(), shape.headSize()),
                    head(dQkv, batch.rows(), row, head, shape));
        });
    }

    private static Attention.Head head(Floats qkv, int rows, int row, int head, Shape shape) {
        return Attention.Head.of(matrix(qkv, rows, 3 * shape.width()), row, shape.context(), head, shape.headSize());
    }

    private static Matrix weights(Floats weights, int task, Shape shape) {
        int size = shape.context() * shape.context();
        return matrix(weights.slice(task * size, size), shape.context(), shape.context());
    }

    @Override
    public void logits(Floats x, Floats embedding, Floats logits, int rows, Shape shape) {
        Matmul.multiply(threads, matrix(x, rows, shape.width()),
                matrix(embedding, shape.vocabulary(), shape.width()).transposed(),
                matrix(logits, rows, shape.vocabulary()), false);
    }

    @Override
    public void logitsBackward(Floats x, Floats embedding, Floats dLogits, Floats dx, Floats dEmbedding, int rows,
            Shape shape) {
        Matrix gradient = matrix(dLogits, rows, shape.vocabulary());
        Matmul.multiply(threads, gradient, matrix(embedding, shape.vocabulary(), shape.width()),
                matrix(dx, rows, shape.width()), false);
        Matmul.multiply(threads, gradient.transposed(), matrix(x, rows, shape.width()),
                matrix(dEmbedding, shape.vocabulary(), shape.width()), true);
    }

    @Override
    public void crossEntropy(TokenBatch tokenBatch, Floats logits, int vocabulary, Losses losses, int slot) {
        HostTokens batch = HostTokens.of(tokenBatch);
        Matrix rows = matrix(logits, batch.rows, vocabulary);
        int labelled = batch.labelled();
        float scale = 1f / labelled;
        double[] ofRows = new double[batch.rows];
        inParts(batch.rows, TASK_ROWS, (first, end) -> {
            for (int row = first; row < end; row++) {
                ofRows[row] = CrossEntropy.row(rows.array(), rows.at(row, 0), vocabulary, batch.labels[row], scale);
            }
        });
        Sums sums = (Sums) losses;
        sums.loss += sum(ofRows);
        sums.labels += labelled;
    }

    @Override
    public void clip(List<Parameter> parameters, double maxNorm, Floats scale) {
        double squares = 0;
        for (Parameter each : parameters) {
            squares += sumOfSquares(HostFloats.of(each.gradient()));
        }
        fill(scale, (float) Math.min(1, maxNorm / (Math.sqrt(squares) + AdamW.NORM_EPSILON)));
    }

    private double sumOfSquares(HostFloats x) {
        double[] sums = new double[Math.ceilDiv(x.size(), TASK_FLOATS)];
        inParts(x.size(), TASK_FLOATS, (first, end) -> sums[first / TASK_FLOATS] =
                Rows.dot(x.array(), x.offset() + first, x.array(), x.offset() + first, end - first));
        return sum(sums);
    }

    private static double sum(double[] parts) {
        double sum = 0;
        for (double part : parts) {
            sum += part;
        }
        return sum;
    }

    @Override
    public void adamW(Parameter parameter, Floats scale, AdamW.Rates rates, float decay) {
        HostFloats by = HostFloats.of(scale);
        inParts(parameter.weight().size(), TASK_FLOATS, (first, end) -> AdamW.update(parameter, first, end,
                by.array()[by.offset()], rates, decay));
    }

    @Override
    public void close() {
        threads.close();
        device.close();
    }
}
