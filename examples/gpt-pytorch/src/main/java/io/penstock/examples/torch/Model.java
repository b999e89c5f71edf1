// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import io.penstock.pytorch.TorchBatch;
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
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.DeviceType;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.jspecify.annotations.Nullable;

/**
 * A GPT: RMS norms, rotary positions, attention within documents, gated layers, one matrix for tokens in and out.
 * {@code train.py} has the same model in Python. Its tensors outlive every {@link PointerScope}; those that it computes
 * belong to the caller's.
 */
final class Model {

    private static final double EPSILON = 1e-5;
    private static final double DEVIATION = 0.02;
    private static final int IGNORED = -100;
    /** JavaCPP's property that names the library of BLAS. */
    private static final String BLAS = "org.bytedeco.openblas.load";
    private static final String MKL = "/org/bytedeco/mkl/global/mkl_rt.class";

    private final Size size;
    private final int context;
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();
    private final Device device;
    /** Cosines and sines of rotary positions, [context, head width / 2]. */
    private final Tensor cosines;
    private final Tensor sines;
    /** Whether a position may look at another, [context, context]. */
    private final Tensor causal;
    /** The number of a token in the vocabulary, behind one for -100; where all tokens are in it, none. */
    private final @Nullable Tensor numbers;
    private final long vocabulary;

    /**
     * @param tokens the tokens that occur, ascending; if empty, the vocabulary is all of GPT-2's
     * @param device where it is
     */
    Model(Size size, int context, long[] tokens, Device device) {
        this.size = size;
        this.context = context;
        this.vocabulary = tokens.length == 0 ? 50_304 : Math.ceilDiv(tokens.length, 32) * 32L;
        this.device = device;
        this.numbers = tokens.length == 0 ? null : numbers(tokens);
        int half = size.headWidth() / 2;
        float[] cos = new float[context * half];
        float[] sin = new float[context * half];
        for (int position = 0; position < context; position++) {
            for (int i = 0; i < half; i++) {
                double angle = position * Math.pow(10_000, -(double) i / half);
                cos[position * half + i] = (float) Math.cos(angle);
                sin[position * half + i] = (float) Math.sin(angle);
            }
        }
        this.cosines = kept(Tensor.create(cos, context, half));
        this.sines = kept(Tensor.create(sin, context, half));
        try (PointerScope _ = new PointerScope()) {
            this.causal = kept(torch.ones(context, context).tril().to(ScalarType.Bool));
        }
        add("wte", vocabulary, size.width());
        for (int layer = 0; layer < size.layers(); layer++) {
            add(layer + ".norm1", size.width());
            add(layer + ".qkv", 3L * size.width(), size.width());
            add(layer + ".out", size.width(), size.width());
            add(layer + ".norm2", size.width());
            add(layer + ".gate", size.hidden(), size.width());
            add(layer + ".up", size.hidden(), size.width());
            add(layer + ".down", size.width(), size.hidden());
        }
        add("norm", size.width());
    }

    /** The CPU. */
    static Device cpu() {
        return new Device(DeviceType.CPU).retainReference();
    }

    /**
     * Sets the threads of torch, and those of OpenBLAS, whose own would spin beside them. Before torch is first used:
     * JavaCPP then loads MKL in place of OpenBLAS where its jars are on the class path.
     */
    static void useThreads(int threads) {
        if (System.getProperty(BLAS) == null && Model.class.getResource(MKL) != null) {
            System.setProperty(BLAS, "mkl");
        }
        torch.set_num_threads(threads);
        Loader.load(openblas.class);
        openblas_nolapack.blas_set_num_threads(threads);
    }

    private Tensor numbers(long[] tokens) {
        long[] all = new long[-IGNORED + (int) tokens[tokens.length - 1] + 1];
        all[0] = IGNORED;
        for (int number = 0; number < tokens.length; number++) {
            all[-IGNORED + (int) tokens[number]] = number;
        }
        return kept(Tensor.create(all));
    }

    /** On the device, and beyond the scope that is open. */
    private Tensor kept(Tensor tensor) {
        return (device.is_cpu() ? tensor : tensor.to(device, tensor.scalar_type())).retainReference();
    }

    private void add(String name, long... shape) {
        try (PointerScope _ = new PointerScope()) {
            Tensor tensor = torch.empty(shape);
            int number = parameters.size();
            int length = Math.toIntExact(tensor.numel());
            float[] values = new float[length];
            for (int i = 0; i < length; i++) {
                values[i] = shape.length == 1 ? 1 : initial(number, i);
            }
            try (FloatPointer data = tensor.data_ptr_float()) {
                data.put(values);
            }
            parameters.put(name, kept(tensor).set_requires_grad(true).retainReference());
        }
    }

    /** Uniform, of deviation {@value #DEVIATION}: a hash of the tensor's number and the element's index. */
    static float initial(int tensor, long index) {
        long x = (index + ((long) tensor << 40)) * 0x9E3779B97F4A7C15L;
        x ^= x >>> 32;
        x *= 0xD6E8FEB86659FD93L;
        x ^= x >>> 32;
        double uniform = (x >>> 40) / (double) (1 << 24) - 0.5;
        return (float) (uniform * DEVIATION * Math.sqrt(12));
    }

    Device device() {
        return device;
    }

    Map<String, Tensor> parameters() {
        return parameters;
    }

    /** Matrices, which decay, or vectors, which do not. */
    List<Tensor> parameters(boolean matrices) {
        List<Tensor> found = new ArrayList<>();
        parameters.values().forEach(each -> {
            if (each.dim() == 2 == matrices) {
                found.add(each);
            }
        });
        return found;
    }

    long weights() {
        return parameters.values().stream().mapToLong(Tensor::numel).sum();
    }

    /**
     * The sum of the losses of all labels, and their number.
     *
     * @param rows of the batch so many, at least one
     * @return {@code f32[]} and {@code i64[]}
     */
    Loss loss(TorchBatch batch, long rows) {
        return loss(batch.indices("input_ids").narrow(0, 0, rows), batch.indices("labels").narrow(0, 0, rows),
                batch.indices("position_ids").narrow(0, 0, rows), batch.indices("document_ids").narrow(0, 0, rows));
    }

    /** A sum over labels, and their number. */
    record Loss(Tensor sum, Tensor labels) {
    }

    Loss loss(Tensor ids, Tensor labels, Tensor positions, Tensor documents) {
        Tensor inputs = number(ids);
        Tensor targets = number(labels).view(-1);
        Tensor logits = logits(inputs, positions, documents).view(-1, vocabulary);
        Tensor sum = torch.cross_entropy_loss(logits.to(ScalarType.Float), targets, new TensorOptional(),
                2, IGNORED, 0);                                             // 2: the sum
        return new Loss(sum, targets.ge(new Scalar(0)).sum());
    }

    private Tensor number(Tensor tokens) {
        return numbers == null ? tokens
                : numbers.index_select(0, tokens.reshape(-1).add(new Scalar(-IGNORED))).view(tokens.shape());
    }

    private Tensor logits(Tensor ids, Tensor positions, Tensor documents) {
        // A token looks at those before it in its document: [B, 1, S, S]
        Tensor mask = documents.unsqueeze(2).eq(documents.unsqueeze(1)).logical_and(causal).unsqueeze(1);
        Tensor cos = torch.embedding(cosines, positions).unsqueeze(1);      // [B, 1, S, half]
        Tensor sin = torch.embedding(sines, positions).unsqueeze(1);
        Tensor wte = parameter("wte");
        Tensor x = torch.embedding(wte, ids);                               // [B, S, W]
        for (int layer = 0; layer < size.layers(); layer++) {
            x = x.add(attention(layer, norm(x, layer + ".norm1"), mask, cos, sin));
            Tensor h = norm(x, layer + ".norm2");
            Tensor gated = torch.silu(torch.linear(h, parameter(layer + ".gate")))
                    .mul(torch.linear(h, parameter(layer + ".up")));
            x = x.add(torch.linear(gated, parameter(layer + ".down")));
        }
        return torch.linear(norm(x, "norm"), wte);
    }

    private Tensor attention(int layer, Tensor x, Tensor mask, Tensor cos, Tensor sin) {
        TensorVector qkv = torch.chunk(torch.linear(x, parameter(layer + ".qkv")), 3, 2);
        Tensor q = rotated(heads(qkv.get(0)), cos, sin);
        Tensor k = rotated(heads(qkv.get(1)), cos, sin);
        Tensor y = torch.scaled_dot_product_attention(q, k, heads(qkv.get(2)), new TensorOptional(mask), 0, false,
                new DoubleOptional(), false);
        return torch.linear(y.transpose(1, 2).reshape(x.size(0), context, size.width()), parameter(layer + ".out"));
    }

    /** [B, S, W] as [B, heads, S, head width]. */
    private Tensor heads(Tensor x) {
        return x.view(x.size(0), context, size.heads(), size.headWidth()).transpose(1, 2);
    }

    private static Tensor rotated(Tensor x, Tensor cos, Tensor sin) {
        TensorVector halves = torch.chunk(x, 2, 3);
        Tensor a = halves.get(0);
        Tensor b = halves.get(1);
        Tensor turned = torch.cat(new TensorVector(a.mul(cos).sub(b.mul(sin)), a.mul(sin).add(b.mul(cos))), 3);
        return turned.to(x.scalar_type());
    }

    private Tensor norm(Tensor x, String name) {
        return torch.rms_norm(x, new long[] {size.width()}, new TensorOptional(parameter(name)),
                new DoubleOptional(EPSILON));
    }

    private Tensor parameter(String name) {
        Tensor found = parameters.get(name);
        if (found == null) {
            throw new IllegalStateException(name);
        }
        return found;
    }
}
