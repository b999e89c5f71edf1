// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.openblas.global.openblas;
import org.bytedeco.openblas.global.openblas_nolapack;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.DeviceType;

/**
 * A ResNet: a stem that halves the picture, three stages of blocks of two 3×3 convolutions, each stage of twice the
 * channels and half the side, and one layer of scores. {@code train.py} has the same net in Python. Its tensors outlive
 * every {@link PointerScope}; those that it computes belong to the caller's.
 */
final class ResNet {

    private static final double EPSILON = 1e-5;
    private static final double MOMENTUM = 0.1;
    private static final int COLORS = 3;
    private static final int STAGES = 3;
    private static final int LEAST_CHANNELS = 16;

    private final int blocks;
    private final int width;
    private final Device device;
    /** What is learned, by name. */
    private final Map<String, Tensor> weights = new LinkedHashMap<>();
    /** Means and variances of batches, by name. */
    private final Map<String, Tensor> averages = new LinkedHashMap<>();

    /**
     * @param blocks of a stage; 1, 2 and 3 make a ResNet-8, -14 and -20
     * @param width channels of the first stage, a multiple of 16: with 8, PyTorch 2.10 of the presets computes wrong
     *     gradients of a convolution's input on CPUs with AVX-512
     * @param device {@code cpu} or {@code cuda}
     */
    ResNet(int blocks, int width, int classes, String device) {
        if (width <= 0 || width % LEAST_CHANNELS != 0) {
            throw new IllegalArgumentException("--width: found " + width + ", expected a multiple of "
                    + LEAST_CHANNELS);
        }
        this.blocks = blocks;
        this.width = width;
        this.device = new Device(device.equals("cuda") ? DeviceType.CUDA : DeviceType.CPU);
        convolution("stem", width, COLORS, 3);
        int in = width;
        for (int stage = 0; stage < STAGES; stage++) {
            int out = width << stage;
            for (int block = 0; block < blocks; block++) {
                String name = stage + "." + block;
                convolution(name + ".a", out, in, 3);
                convolution(name + ".b", out, out, 3);
                if (in != out) {
                    convolution(name + ".skip", out, in, 1);
                }
                in = out;
            }
        }
        add(weights, "head", 1, classes, in);
    }

    /** Sets the threads of torch, and those of OpenBLAS, whose own would spin beside them. */
    static void useThreads(int threads) {
        torch.set_num_threads(threads);
        Loader.load(openblas.class);
        openblas_nolapack.blas_set_num_threads(threads);
    }

    /** A convolution without a bias, and the norm behind it. */
    private void convolution(String name, long out, long in, long side) {
        add(weights, name, 2, out, in, side, side);
        add(weights, name + ".scale", 1, out);
        add(weights, name + ".shift", 0, out);
        add(averages, name + ".mean", 0, out);
        add(averages, name + ".variance", 1, out);
    }

    /** Vectors have one value; others are uniform, of the variance {@code gain / fan-in}. */
    private void add(Map<String, Tensor> tensors, String name, float gain, long... shape) {
        try (PointerScope _ = new PointerScope()) {
            Tensor tensor = torch.empty(shape);
            int number = weights.size();
            float[] values = new float[Math.toIntExact(tensor.numel())];
            double range = shape.length == 1 ? 0 : Math.sqrt(12 * gain * shape[0] / values.length);
            for (int i = 0; i < values.length; i++) {
                values[i] = shape.length == 1 ? gain : (float) (uniform(number, i) * range);
            }
            try (FloatPointer data = tensor.data_ptr_float()) {
                data.put(values);
            }
            Tensor kept = device.is_cpu() ? tensor : tensor.to(device, tensor.scalar_type());
            boolean isLearned = tensors == weights;
            tensors.put(name, kept.set_requires_grad(isLearned).retainReference());
        }
    }

    /** From -0.5 to 0.5: a hash of the tensor's number and the element's index. */
    private static double uniform(int tensor, long index) {
        long x = (index + ((long) tensor << 40)) * 0x9E3779B97F4A7C15L;
        x ^= x >>> 32;
        x *= 0xD6E8FEB86659FD93L;
        x ^= x >>> 32;
        return (x >>> 40) / (double) (1 << 24) - 0.5;
    }

    /** All that a checkpoint has to have of it. */
    Map<String, Tensor> tensors() {
        Map<String, Tensor> all = new LinkedHashMap<>(weights);
        all.putAll(averages);
        return all;
    }

    /** Weights that decay, which are those with several dimensions, or that do not. */
    List<Tensor> weights(boolean isDecayed) {
        List<Tensor> found = new ArrayList<>();
        weights.values().forEach(each -> {
            if (each.dim() > 1 == isDecayed) {
                found.add(each);
            }
        });
        return found;
    }

    long weightCount() {
        return weights.values().stream().mapToLong(Tensor::numel).sum();
    }

    /**
     * Scores of each class.
     *
     * @param pictures {@code f32 [B, 3, S, S]}
     * @param isTraining whether norms are those of the batch, which the averages then follow
     * @return {@code f32 [B, classes]}
     */
    Tensor scores(Tensor pictures, boolean isTraining) {
        Tensor x = torch.relu_(normed(pictures, "stem", 2, isTraining));
        long in = width;
        for (int stage = 0; stage < STAGES; stage++) {
            for (int block = 0; block < blocks; block++) {
                String name = stage + "." + block;
                boolean isWider = in != (long) width << stage;
                Tensor skip = isWider ? normed(x, name + ".skip", 2, isTraining) : x;
                Tensor y = torch.relu_(normed(x, name + ".a", isWider ? 2 : 1, isTraining));
                x = torch.relu_(normed(y, name + ".b", 1, isTraining).add_(skip));
                in = (long) width << stage;
            }
        }
        return torch.linear(torch.adaptive_avg_pool2d(x, 1, 1).flatten(1, -1), tensor(weights, "head"));
    }

    private Tensor normed(Tensor x, String name, long stride, boolean isTraining) {
        Tensor kernel = tensor(weights, name);
        long padding = kernel.size(2) / 2;
        Tensor y = torch.conv2d(x, kernel, new TensorOptional(), new long[] {stride, stride},
                new long[] {padding, padding}, new long[] {1, 1}, 1);
        return torch.batch_norm(y, new TensorOptional(tensor(weights, name + ".scale")),
                new TensorOptional(tensor(weights, name + ".shift")),
                new TensorOptional(tensor(averages, name + ".mean")),
                new TensorOptional(tensor(averages, name + ".variance")), isTraining, MOMENTUM, EPSILON, true);
    }

    private static Tensor tensor(Map<String, Tensor> tensors, String name) {
        Tensor found = tensors.get(name);
        if (found == null) {
            throw new IllegalStateException(name);
        }
        return found;
    }
}
