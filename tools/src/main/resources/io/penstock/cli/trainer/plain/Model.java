package trainer;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;

/**
 * Predicts a token from the one before it: the scores of all tokens are the product of a matrix and the vector of the
 * token at hand. Trained by Adagrad. A stand-in for a model of your own.
 */
final class Model {

    private static final float LEARNING_RATE = 0.3f;

    /** The row of each token id: the store uses only some of the vocabulary. */
    private final int[] rows;
    private final int tokens;
    private final int width;
    /** Two matrices [tokens, width], one after the other: vectors of the inputs, then of the outputs. */
    private final float[] weights;
    private final float[] squares;
    private final float[] gradients;
    private final float[] scores;

    private Model(int[] rows, int tokens, int width, long seed) {
        this.rows = rows;
        this.tokens = tokens;
        this.width = width;
        this.weights = new float[2 * tokens * width];
        this.squares = new float[weights.length];
        this.gradients = new float[weights.length];
        this.scores = new float[tokens];
        Random random = new Random(seed);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (float) random.nextGaussian() * 0.1f;
        }
    }

    /** A model for the tokens that occur in a store. */
    static Model of(TokenStore store, int width, long seed) {
        BitSet used = new BitSet();
        try (DataLoader all = DataLoader.builder(TokenWindows.of(store, 64)).batchSize(64)
                .collator(CausalLm.widened(DType.I32)).open()) {
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

    /** Takes one step, and returns the mean loss of the batch before it, in nats per token. */
    double train(Tensor inputs, Tensor labels) {
        Arrays.fill(gradients, 0);
        double loss = 0;
        long count = inputs.elementCount();
        for (long i = 0; i < count; i++) {
            loss += learn(rows[(int) inputs.getLong(i)], rows[(int) labels.getLong(i)]);
        }
        for (int i = 0; i < weights.length; i++) {
            float gradient = gradients[i] / count;
            squares[i] += gradient * gradient;
            weights[i] -= LEARNING_RATE * gradient / ((float) Math.sqrt(squares[i]) + 1e-8f);
        }
        return loss / count;
    }

    private double learn(int input, int label) {
        int in = input * width;
        int outputs = tokens * width;
        float highest = Float.NEGATIVE_INFINITY;
        for (int token = 0; token < tokens; token++) {
            int out = outputs + token * width;
            float score = 0;
            for (int d = 0; d < width; d++) {
                score += weights[in + d] * weights[out + d];
            }
            scores[token] = score;
            highest = Math.max(highest, score);
        }
        double sum = 0;
        for (int token = 0; token < tokens; token++) {
            scores[token] = (float) Math.exp(scores[token] - highest);
            sum += scores[token];
        }
        double loss = Math.log(sum) - Math.log(scores[label]);
        for (int token = 0; token < tokens; token++) {
            float error = (float) (scores[token] / sum) - (token == label ? 1 : 0);
            int out = outputs + token * width;
            for (int d = 0; d < width; d++) {
                gradients[in + d] += error * weights[out + d];
                gradients[out + d] += error * weights[in + d];
            }
        }
        return loss;
    }

    /** Writes all that training goes on from. */
    void write(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * weights.length * Float.BYTES);
        bytes.asFloatBuffer().put(weights).put(squares);
        Files.write(file, bytes.array());
    }

    /** Reads what {@link #write} wrote. */
    void read(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        if (bytes.remaining() != 2 * weights.length * Float.BYTES) {
            throw new IOException(file + " is of a model of another size");
        }
        bytes.asFloatBuffer().get(weights).get(squares);
    }
}
