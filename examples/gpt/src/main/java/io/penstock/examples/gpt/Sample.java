// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.IntArrayList;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;

/** Writes text with the newest checkpoint of a run. */
public final class Sample {

    private final Model model;
    private final Vocabulary vocabulary;
    private final Random random;
    private final HostTokens batch;

    private Sample(Model model, Vocabulary vocabulary, long seed) {
        this.model = model;
        this.vocabulary = vocabulary;
        this.random = new Random(seed);
        this.batch = new HostTokens(1, model.shape().context(), vocabulary);
    }

    /** Samples with options, see the README. */
    public static void main(String[] args) throws IOException {
        Flags flags = Flags.of(args, "--out", "run", "--prompt", "The keeper of the", "--tokens", "150",
                "--temperature", "0.8", "--top", "40", "--seed", "1");
        Checkpoints.Saved saved = new Checkpoints(flags.path("--out")).newest().orElseThrow(
                () -> new IOException(flags.path("--out") + ": found no checkpoint"));
        Tokenizer tokenizer = Tokenizer.of("gpt2");
        try (Ops ops = new CpuOps(Runtime.getRuntime().availableProcessors())) {
            Model model = new Model(saved.shape(), ops, 1);
            saved.readWeights(model);
            int[] prompt = tokenizer.encode(flags.text("--prompt"));
            int[] tokens = new Sample(model, saved.vocabulary(), flags.whole("--seed")).extend(prompt,
                    prompt.length + flags.whole("--tokens"), tokenizer.endOfText(), flags.number("--temperature"),
                    flags.whole("--top"));
            System.out.println(decode(tokens));
        }
    }

    private static String decode(int[] tokens) {
        Encoding encoding = Encodings.newDefaultEncodingRegistry().getEncoding(EncodingType.R50K_BASE);
        IntArrayList list = new IntArrayList(tokens.length);
        for (int token : tokens) {
            list.add(token);
        }
        return encoding.decode(list);
    }

    /** Adds tokens to a prompt up to a length or the end of the text. */
    private int[] extend(int[] prompt, int length, int endOfText, double temperature, int top) {
        int[] tokens = Arrays.copyOf(prompt, length);
        for (int count = prompt.length; count < length; count++) {
            int token = next(tokens, count, temperature, top);
            if (token == endOfText) {
                return Arrays.copyOf(tokens, count);
            }
            tokens[count] = token;
        }
        return tokens;
    }

    /** Draws the token that follows the first {@code count}. The model sees as many of them as it has context for. */
    private int next(int[] tokens, int count, double temperature, int top) {
        int context = model.shape().context();
        int first = Math.max(0, count - context);
        batch.rows = context;
        for (int i = 0; i < context; i++) {
            batch.positions[i] = i;
            batch.ids[i] = first + i < count ? vocabulary.number(tokens[first + i]) : 0;
        }
        model.forward(batch);
        float[] logits = new float[model.logits().size()];
        model.logits().copyTo(logits);
        int row = (count - first - 1) * model.shape().vocabulary();
        return vocabulary.token(draw(Arrays.copyOfRange(logits, row, row + vocabulary.size()), temperature, top));
    }

    private int draw(float[] logits, double temperature, int top) {
        float[] sorted = logits.clone();
        Arrays.sort(sorted);
        float least = sorted[Math.max(0, sorted.length - top)];
        double[] weights = new double[logits.length];
        double sum = 0;
        for (int i = 0; i < logits.length; i++) {
            weights[i] = logits[i] < least ? 0 : Math.exp((logits[i] - sorted[sorted.length - 1]) / temperature);
            sum += weights[i];
        }
        double left = random.nextDouble() * sum;
        int drawn = -1;
        while (left >= 0 && drawn + 1 < weights.length) {
            left -= weights[++drawn];
        }
        return drawn;
    }
}
