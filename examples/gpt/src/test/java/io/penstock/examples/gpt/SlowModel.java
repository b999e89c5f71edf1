// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.HashMap;
import java.util.Map;

/** The model again: in doubles, token by token, with none of the kernels. */
final class SlowModel {

    private final Shape shape;
    private final Map<String, double[]> weights = new HashMap<>();

    SlowModel(Model model) {
        shape = model.shape();
        for (Parameter each : model.parameters()) {
            float[] values = new float[each.weight().size()];
            each.weight().copyTo(values);
            double[] wide = new double[values.length];
            for (int i = 0; i < values.length; i++) {
                wide[i] = values[i];
            }
            weights.put(each.name(), wide);
        }
    }

    double[] weights(String name) {
        return weights.get(name);
    }

    /** The mean loss of the labels of a batch. */
    double loss(HostTokens batch) {
        double sum = 0;
        for (int first = 0; first < batch.rows; first += shape.context()) {
            double[][] logits = logits(batch, first);
            for (int t = 0; t < shape.context(); t++) {
                int label = batch.labels[first + t];
                if (label != HostTokens.IGNORED) {
                    double exps = 0;
                    for (double logit : logits[t]) {
                        exps += Math.exp(logit);
                    }
                    sum += Math.log(exps) - logits[t][label];
                }
            }
        }
        return sum / batch.labelled();
    }

    /** The logits of a sequence. */
    double[][] logits(HostTokens batch, int first) {
        int width = shape.width();
        double[][] x = new double[shape.context()][width];
        for (int t = 0; t < x.length; t++) {
            for (int i = 0; i < width; i++) {
                x[t][i] = weights("wte.weight")[batch.ids[first + t] * width + i]
                        + weights("wpe.weight")[batch.positions[first + t] * width + i];
            }
        }
        for (int layer = 0; layer < shape.layers(); layer++) {
            String name = "h." + layer;
            double[][] attended = attention(linear(norm(x, name + ".ln_1"), name + ".attn.c_attn"), batch, first);
            x = sum(x, linear(attended, name + ".attn.c_proj"));
            double[][] hidden = linear(norm(x, name + ".ln_2"), name + ".mlp.c_fc");
            for (double[] row : hidden) {
                for (int i = 0; i < row.length; i++) {
                    double v = row[i];
                    row[i] = 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v * v * v)));
                }
            }
            x = sum(x, linear(hidden, name + ".mlp.c_proj"));
        }
        x = norm(x, "ln_f");
        double[][] logits = new double[x.length][shape.vocabulary()];
        for (int t = 0; t < x.length; t++) {
            for (int token = 0; token < shape.vocabulary(); token++) {
                for (int i = 0; i < width; i++) {
                    logits[t][token] += x[t][i] * weights("wte.weight")[token * width + i];
                }
            }
        }
        return logits;
    }

    private double[][] attention(double[][] qkv, HostTokens batch, int first) {
        int width = shape.width();
        double[][] out = new double[qkv.length][width];
        for (int head = 0; head < shape.heads(); head++) {
            int at = head * shape.headSize();
            for (int t = 0; t < qkv.length; t++) {
                double[] scores = new double[t + 1];
                double sum = 0;
                for (int s = t - batch.positions[first + t]; s <= t; s++) {
                    double dot = 0;
                    for (int i = 0; i < shape.headSize(); i++) {
                        dot += qkv[t][at + i] * qkv[s][width + at + i];
                    }
                    scores[s] = Math.exp(dot / Math.sqrt(shape.headSize()));
                    sum += scores[s];
                }
                for (int s = 0; s <= t; s++) {
                    for (int i = 0; i < shape.headSize(); i++) {
                        out[t][at + i] += scores[s] / sum * qkv[s][2 * width + at + i];
                    }
                }
            }
        }
        return out;
    }

    private double[][] linear(double[][] x, String name) {
        double[] weight = weights(name + ".weight");
        double[] bias = weights(name + ".bias");
        double[][] y = new double[x.length][];
        for (int t = 0; t < x.length; t++) {
            y[t] = bias.clone();
            for (int i = 0; i < x[t].length; i++) {
                for (int o = 0; o < bias.length; o++) {
                    y[t][o] += x[t][i] * weight[i * bias.length + o];
                }
            }
        }
        return y;
    }

    private double[][] norm(double[][] x, String name) {
        double[][] y = new double[x.length][shape.width()];
        for (int t = 0; t < x.length; t++) {
            double mean = 0;
            for (double v : x[t]) {
                mean += v / x[t].length;
            }
            double variance = 0;
            for (double v : x[t]) {
                variance += (v - mean) * (v - mean) / x[t].length;
            }
            for (int i = 0; i < y[t].length; i++) {
                y[t][i] = (x[t][i] - mean) / Math.sqrt(variance + 1e-5) * weights(name + ".weight")[i]
                        + weights(name + ".bias")[i];
            }
        }
        return y;
    }

    private static double[][] sum(double[][] x, double[][] y) {
        for (int t = 0; t < x.length; t++) {
            for (int i = 0; i < x[t].length; i++) {
                y[t][i] += x[t][i];
            }
        }
        return y;
    }
}
