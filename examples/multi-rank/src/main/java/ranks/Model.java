// SPDX-License-Identifier: Apache-2.0
package ranks;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.Dataset;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;

/**
 * Predicts a token from the one before it: the scores of all tokens are the product of a matrix and the vector of the
 * token at hand. Trained by Adagrad.
 */
final class Model {

    private static final double LEARNING_RATE = 0.3;

    /** The row of each token id: the store uses only some of the vocabulary. */
    private final int[] rows;
    private final int tokens;
    private final int width;
    /** Two matrices [tokens, width], one after the other: vectors of the inputs, then of the outputs. */
    private final double[] weights;
    private final double[] squares;
    /** One for each weight, then the sum of losses, then the number of tokens. */
    private final double[] gradients;
    private final double[] scores;

    private Model(int[] rows, int tokens, int width, long seed) {
        this.rows = rows;
        this.tokens = tokens;
        this.width = width;
        this.weights = new double[2 * tokens * width];
        this.squares = new double[weights.length];
        this.gradients = new double[weights.length + 2];
        this.scores = new double[tokens];
        Random random = new Random(seed);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = random.nextGaussian() * 0.1;
        }
    }

    /** A model for the tokens that occur in a dataset of windows. */
    static Model of(Dataset windows, int width, long seed) {
        BitSet used = new BitSet();
        try (DataLoader all = DataLoader.builder(windows).batchSize(64).collator(CausalLm.widened(DType.I32))
                .open()) {
            for (Batch batch : all.epoch(0)) {
                try (batch) {
                    mark(used, batch.tensor("input_ids"));
                    mark(used, batch.tensor("labels"));
                }
            }
        }
        int[] rows = new int[used.length()];
        Arrays.fill(rows, -1);
        int count = 0;
        for (int token = used.nextSetBit(0); token >= 0; token = used.nextSetBit(token + 1)) {
            rows[token] = count++;
        }
        return new Model(rows, count, width, seed);
    }

    private static void mark(BitSet used, Tensor ids) {
        for (long i = 0; i < ids.elementCount(); i++) {
            used.set((int) ids.getLong(i));
        }
    }

    /** What is to be summed over the ranks between {@link #differentiate} and {@link #apply}. */
    double[] gradients() {
        return gradients;
    }

    /** Computes the gradients of the first rows of a batch: i32 [batch, context] each. */
    void differentiate(Tensor inputs, Tensor labels, int valid) {
        Arrays.fill(gradients, 0);
        long count = valid * inputs.dim(1);
        for (long i = 0; i < count; i++) {
            differentiate(rows[(int) inputs.getLong(i)], rows[(int) labels.getLong(i)]);
        }
        gradients[weights.length + 1] = count;
    }

    private void differentiate(int input, int label) {
        int in = input * width;
        int outputs = tokens * width;
        double highest = Double.NEGATIVE_INFINITY;
        for (int token = 0; token < tokens; token++) {
            double score = 0;
            for (int d = 0; d < width; d++) {
                score += weights[in + d] * weights[outputs + token * width + d];
            }
            scores[token] = score;
            highest = Math.max(highest, score);
        }
        double sum = 0;
        for (int token = 0; token < tokens; token++) {
            scores[token] = StrictMath.exp(scores[token] - highest);
            sum += scores[token];
        }
        gradients[weights.length] += Math.log(sum) - Math.log(scores[label]);
        for (int token = 0; token < tokens; token++) {
            double error = scores[token] / sum - (token == label ? 1 : 0);
            int out = outputs + token * width;
            for (int d = 0; d < width; d++) {
                gradients[in + d] += error * weights[out + d];
                gradients[out + d] += error * weights[in + d];
            }
        }
    }

    /** Takes one step, and returns the mean loss before it, in nats per token. */
    double apply() {
        double count = gradients[weights.length + 1];
        for (int i = 0; i < weights.length; i++) {
            double gradient = gradients[i] / count;
            squares[i] += gradient * gradient;
            weights[i] -= LEARNING_RATE * gradient / (Math.sqrt(squares[i]) + 1e-8);
        }
        return gradients[weights.length] / count;
    }

    /** Writes all that training goes on from. */
    void write(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * weights.length * Double.BYTES);
        bytes.asDoubleBuffer().put(weights).put(squares);
        Files.write(file, bytes.array());
    }

    /** Reads what {@link #write} wrote. */
    void read(Path file) throws IOException {
        ByteBuffer.wrap(Files.readAllBytes(file)).asDoubleBuffer().get(weights).get(squares);
    }
}
