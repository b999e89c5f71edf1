// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import java.util.List;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.OptimizerParamGroup;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/** A step of SGD with momentum; kernels and the head decay, norms do not. */
final class Optimizing implements AutoCloseable {

    private static final double MOMENTUM = 0.9;
    private static final double DECAY = 5e-4;

    private final ResNet net;
    private final SGD optimizer;

    Optimizing(ResNet net) {
        this.net = net;
        this.optimizer = new SGD(vector(net.weights(true)), options(DECAY));
        this.optimizer.add_param_group(new OptimizerParamGroup(vector(net.weights(false)), options(0)));
    }

    private static TensorVector vector(List<Tensor> tensors) {
        return new TensorVector(tensors.toArray(Tensor[]::new));
    }

    private static SGDOptions options(double decay) {
        SGDOptions options = new SGDOptions(0.1);
        options.momentum().put(MOMENTUM);
        options.nesterov().put(true);
        options.weight_decay().put(decay);
        return options;
    }

    SGD optimizer() {
        return optimizer;
    }

    /** Trains on a batch; returns its mean loss. */
    double step(Tensor pictures, Tensor labels, double rate) {
        try (PointerScope _ = new PointerScope()) {
            optimizer.zero_grad();
            Tensor loss = torch.cross_entropy_loss(net.scores(pictures, true), labels, new TensorOptional(), 1, -100,
                    0);                                                     // 1: the mean
            loss.backward();
            for (long group = 0; group < optimizer.param_groups().size(); group++) {
                optimizer.param_groups().get(group).options().set_lr(rate);
            }
            optimizer.step();
            return loss.item_double();
        }
    }

    @Override
    public void close() {
        optimizer.close();
    }
}
