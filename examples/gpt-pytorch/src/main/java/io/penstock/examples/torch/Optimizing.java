// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import java.util.List;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.AdamW;
import org.bytedeco.pytorch.AdamWOptions;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.OptimizerParamGroup;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** A step of AdamW: gradients averaged over labels and ranks, clipped, weights decayed if they are matrices. */
final class Optimizing implements AutoCloseable {

    private static final double DECAY = 0.1;
    private static final double GREATEST_NORM = 1;

    private final List<Tensor> parameters;
    private final AdamW optimizer;
    private final Ranks ranks;
    /** Gradients in a row, then the loss and the number of labels; empty if there is one rank. */
    private final Tensor row;

    Optimizing(Model model, Ranks ranks) {
        this.ranks = ranks;
        this.parameters = List.copyOf(model.parameters().values());
        // The state of an optimizer lives as long as it does: no scope may free what it is made of.
        this.optimizer = new AdamW(vector(model.parameters(true)), options(DECAY));
        this.optimizer.add_param_group(new OptimizerParamGroup(vector(model.parameters(false)), options(0)));
        long elements = ranks.count() == 1 ? 0 : model.weights() + 2;
        this.row = torch.zeros(elements).to(model.device(), ScalarType.Float).retainReference();
    }

    private static TensorVector vector(List<Tensor> tensors) {
        return new TensorVector(tensors.toArray(Tensor[]::new));
    }

    private static AdamWOptions options(double decay) {
        AdamWOptions options = new AdamWOptions(1e-3);
        options.weight_decay().put(decay);
        return options;
    }

    AdamW optimizer() {
        return optimizer;
    }

    void begin() {
        optimizer.zero_grad();
    }

    /** Ends a step whose gradients are those of sums over labels; returns the mean loss of all ranks. */
    double end(double lossSum, double labels, double rate) {
        try (PointerScope _ = new PointerScope(); AutoGradMode _ = new AutoGradMode(false)) {
            double loss = lossSum;
            double count = labels;
            if (ranks.count() > 1) {
                double[] all = sumOverRanks(lossSum, labels);
                loss = all[0];
                count = all[1];
            }
            clip(1 / count);
            for (long group = 0; group < optimizer.param_groups().size(); group++) {
                optimizer.param_groups().get(group).options().set_lr(rate);
            }
            optimizer.step();
            return loss / count;
        }
    }

    private double[] sumOverRanks(double lossSum, double labels) {
        long at = 0;
        for (Tensor each : parameters) {
            Tensor gradient = each.grad();
            if (gradient.defined()) {
                row.narrow(0, at, each.numel()).copy_(gradient.view(-1));
            } else {
                row.narrow(0, at, each.numel()).zero_();                // no valid row in this rank
            }
            at += each.numel();
        }
        row.narrow(0, at, 1).fill_(new Scalar(lossSum));
        row.narrow(0, at + 1, 1).fill_(new Scalar(labels));
        ranks.sum(row);
        at = 0;
        for (Tensor each : parameters) {
            each.mutable_grad().put(row.narrow(0, at, each.numel()).view(each.shape()).clone());
            at += each.numel();
        }
        return new double[] {row.narrow(0, at, 1).item_double(), row.narrow(0, at + 1, 1).item_double()};
    }

    /** Scales gradients to means, and down to the greatest norm. */
    private void clip(double scale) {
        TensorVector norms = new TensorVector();
        for (Tensor each : parameters) {
            norms.push_back(each.grad().norm());
        }
        double norm = torch.stack(norms).norm().item_double() * scale;
        Scalar factor = new Scalar(scale * Math.min(1, GREATEST_NORM / (norm + 1e-6)));
        for (Tensor each : parameters) {
            each.grad().mul_(factor);
        }
    }

    @Override
    public void close() {
        row.releaseReference();
        optimizer.close();
    }
}
