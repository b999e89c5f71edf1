// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static io.penstock.examples.gpt.CudaFloats.address;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.examples.gpt.Cublas.Operand;
import io.penstock.examples.gpt.CudaKernels.Kernel;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The kernels in CUDA, with matrix products by cuBLAS, for the thread that opens it.
 *
 * <p>Everything is enqueued on one stream, so kernels need no events between them, and no method waits but
 * {@link Losses#read} and the copies of {@link Floats}.
 */
final class CudaOps implements Ops {

    /** Steps that are enqueued before their losses are read, at most. */
    private static final int LOSS_SLOTS = 64;
    /** Elements of which a block sums the squares: {@code PART_FLOATS} in {@code gpt.cu}. */
    private static final int PART_FLOATS = 1 << 14;
    /** Columns that a block sums: {@code SUM_COLUMNS} in {@code gpt.cu}. */
    private static final int SUM_COLUMNS = 32;

    private final Device device;
    private final DeviceStream stream;
    private final Cublas cublas;
    private final CudaKernels kernels;
    private final CudaMemory memory;
    /** For the gradient of attention weights, and for parts of a sum of squares: as large as needed so far. */
    private DeviceBuffer attentionGradient;
    private DeviceBuffer squares;

    private final Kernel fill;
    private final Kernel add;
    private final Kernel copyRow;
    private final Kernel embed;
    private final Kernel addRowsAt;
    private final Kernel addRows;
    private final Kernel layerNorm;
    private final Kernel layerNormBackward;
    private final Kernel gelu;
    private final Kernel geluBackward;
    private final Kernel softmax;
    private final Kernel softmaxBackward;
    private final Kernel crossEntropy;
    private final Kernel addLosses;
    private final Kernel sumOfSquares;
    private final Kernel clip;
    private final Kernel adamW;

    private CudaOps(Device device) {
        this.device = device;
        device.makeCurrent();
        cublas = new Cublas(device);
        stream = device.openStream("trainer");
        cublas.useStream(stream.handle());
        kernels = new CudaKernels(device, stream.handle());
        memory = new CudaMemory(device, stream);
        fill = kernels.find("gpt_fill");
        add = kernels.find("gpt_add");
        copyRow = kernels.find("gpt_copy_row");
        embed = kernels.find("gpt_embed");
        addRowsAt = kernels.find("gpt_add_rows_at");
        addRows = kernels.find("gpt_add_rows");
        layerNorm = kernels.find("gpt_layer_norm");
        layerNormBackward = kernels.find("gpt_layer_norm_backward");
        gelu = kernels.find("gpt_gelu");
        geluBackward = kernels.find("gpt_gelu_backward");
        softmax = kernels.find("gpt_softmax");
        softmaxBackward = kernels.find("gpt_softmax_backward");
        crossEntropy = kernels.find("gpt_cross_entropy");
        addLosses = kernels.find("gpt_add_losses");
        sumOfSquares = kernels.find("gpt_sum_of_squares");
        clip = kernels.find("gpt_clip");
        adamW = kernels.find("gpt_adam_w");
        attentionGradient = memory.allocate(Float.BYTES);
        squares = memory.allocate(Double.BYTES);
    }

    /**
     * Opens the kernels on a CUDA device, which is closed with them.
     *
     * @throws io.penstock.device.DeviceUnavailableException if there is no cuBLAS
     */
    static CudaOps open(Device device) {
        try {
            return new CudaOps(device);
        } catch (RuntimeException | Error e) {
            device.close();
            throw e;
        }
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public CudaFloats allocate(int size) {
        CudaFloats floats = new CudaFloats(memory, memory.allocate((long) size * Float.BYTES), 0, size);
        fill(floats, 0);
        return floats;
    }

    @Override
    public CudaTokens tokens(int maxSequences, int context, Vocabulary vocabulary) {
        return new CudaTokens(memory, stream, kernels, maxSequences, context, vocabulary);
    }

    /** A double for a sum of losses and one for the number of labels, slot by slot. */
    private final class Sums implements Losses {

        static final int BYTES = 2 * Double.BYTES;

        final CudaFloats slots = allocate(LOSS_SLOTS * BYTES / Float.BYTES);

        @Override
        public int slots() {
            return LOSS_SLOTS;
        }

        @Override
        public List<Sum> read(int count) {
            double[] read = new double[2 * count];
            memory.copyToHost(slots.buffer(), 0, MemorySegment.ofArray(read));
            fill(slots, 0);
            List<Sum> sums = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sums.add(new Sum(read[2 * i], (long) read[2 * i + 1]));
            }
            return sums;
        }
    }

    @Override
    public Losses losses() {
        return new Sums();
    }

    @Override
    public void fill(Floats x, float value) {
        fill.each(x.size(), address(x), x.size(), bits(value));
    }

    @Override
    public void add(Floats x, Floats y, int count) {
        add.each(count, address(x), address(y), count);
    }

    @Override
    public void embed(TokenBatch batch, Floats tokens, Floats positions, Floats x, int width) {
        CudaTokens on = CudaTokens.of(batch);
        embed.each((long) on.rows * width, on.ids.address(), on.positions.address(), address(tokens),
                address(positions), address(x), on.rows, width);
    }

    @Override
    public void embedBackward(TokenBatch batch, Floats dx, Floats dTokens, Floats dPositions, int width) {
        CudaTokens on = CudaTokens.of(batch);
        addRowsAt(dx, on.ids, on.rows, dTokens, width);
        addRowsAt(dx, on.positions, on.rows, dPositions, width);
    }

    private void addRowsAt(Floats x, DeviceBuffer indices, int rows, Floats sums, int width) {
        int entries = sums.size() / width;
        addRowsAt.blocks(entries, address(x), indices.address(), rows, address(sums), entries, width);
    }

    @Override
    public void linear(Floats x, Floats weight, Floats bias, Floats y, int rows, int in, int out) {
        copyRow.each((long) rows * out, address(bias), address(y), rows, out);
        cublas.multiplyAndAdd(rows, out, in, matrix(x, in), matrix(weight, out), matrix(y, out), 1);
    }

    @Override
    public void linearBackward(Floats x, Floats weight, Floats dy, Floats dx, Floats dWeight, Floats dBias, int rows,
            int in, int out) {
        cublas.multiply(rows, in, out, matrix(dy, out), matrix(weight, out).transposed(), matrix(dx, in), 1);
        cublas.multiplyAndAdd(in, out, rows, matrix(x, in).transposed(), matrix(dy, out), matrix(dWeight, out), 1);
        addRows(dy, rows, dBias, out);
    }

    private static Operand matrix(Floats floats, int columns) {
        return Operand.of(address(floats), columns);
    }

    private void addRows(Floats x, int rows, Floats sums, int width) {
        addRows.blocks(Math.ceilDiv(width, SUM_COLUMNS), address(x), rows, address(sums), width);
    }

    @Override
    public void layerNorm(Floats x, Floats gain, Floats bias, Floats y, int rows, int width) {
        layerNorm.blocks(rows, address(x), address(gain), address(bias), address(y), rows, width);
    }

    @Override
    public void layerNormBackward(Floats x, Floats gain, Floats y, Floats dy, Floats dx, Floats dGain, Floats dBias,
            int rows, int width) {
        layerNormBackward.blocks(rows, address(x), address(gain), address(dy), address(dx), address(y), rows, width);
        addRows(dy, rows, dBias, width);
        addRows(y, rows, dGain, width);
    }

    @Override
    public void gelu(Floats x, Floats y, int count) {
        gelu.each(count, address(x), address(y), count);
    }

    @Override
    public void geluBackward(Floats x, Floats dy, Floats dx, int count) {
        geluBackward.each(count, address(x), address(dy), address(dx), count);
    }

    /** The matrices of one head in all sequences of a batch, as operands of one product for each sequence. */
    private record Head(long address, int head, Shape shape) {

        Operand queries() {
            return columns(3, 0);
        }

        Operand keys() {
            return columns(3, 1);
        }

        Operand values() {
            return columns(3, 2);
        }

        Operand output() {
            return columns(1, 0);
        }

        /** The head's columns in a part of {@code [rows, parts · width]}. */
        private Operand columns(int parts, int part) {
            int stride = parts * shape.width();
            long first = (long) part * shape.width() + (long) head * shape.headSize();
            return new Operand(address + first * Float.BYTES, stride, (long) shape.context() * stride, false);
        }

        /** The head's matrices of {@code [sequences, heads, context, context]}. */
        Operand weights() {
            long size = (long) shape.context() * shape.context();
            return new Operand(address + head * size * Float.BYTES, shape.context(), shape.heads() * size, false);
        }
    }

    @Override
    public void attention(TokenBatch batch, Floats qkv, Floats weights, Floats y, Shape shape) {
        CudaTokens on = CudaTokens.of(batch);
        int context = shape.context();
        int size = shape.headSize();
        int sequences = on.rows / context;
        for (int h = 0; h < shape.heads(); h++) {
            Head in = new Head(address(qkv), h, shape);
            Operand scores = new Head(address(weights), h, shape).weights();
            cublas.multiply(context, context, size, in.queries(), in.keys().transposed(), scores, sequences);
        }
        softmax.blocks((long) shape.heads() * on.rows, address(weights), on.positions.address(), sequences,
                shape.heads(), context, scale(shape));
        for (int h = 0; h < shape.heads(); h++) {
            Operand w = new Head(address(weights), h, shape).weights();
            Operand values = new Head(address(qkv), h, shape).values();
            cublas.multiply(context, size, context, w, values, new Head(address(y), h, shape).output(), sequences);
        }
    }

    @Override
    public void attentionBackward(TokenBatch batch, Floats qkv, Floats weights, Floats dy, Floats dQkv, Shape shape) {
        int context = shape.context();
        int size = shape.headSize();
        int sequences = batch.rows() / context;
        if (attentionGradient.byteSize() < (long) weights.size() * Float.BYTES) {
            attentionGradient = memory.allocate((long) weights.size() * Float.BYTES);
        }
        long dWeights = attentionGradient.address();
        for (int h = 0; h < shape.heads(); h++) {
            Operand w = new Head(address(weights), h, shape).weights();
            Operand dw = new Head(dWeights, h, shape).weights();
            Operand dOut = new Head(address(dy), h, shape).output();
            Operand values = new Head(address(qkv), h, shape).values();
            Operand dValues = new Head(address(dQkv), h, shape).values();
            cublas.multiply(context, size, context, w.transposed(), dOut, dValues, sequences);
            cublas.multiply(context, context, size, dOut, values.transposed(), dw, sequences);
        }
        long rows = (long) shape.heads() * batch.rows();
        softmaxBackward.blocks(rows, address(weights), dWeights, rows, context, scale(shape));
        for (int h = 0; h < shape.heads(); h++) {
            Operand dScores = new Head(dWeights, h, shape).weights();
            Head in = new Head(address(qkv), h, shape);
            Head dIn = new Head(address(dQkv), h, shape);
            cublas.multiply(context, size, context, dScores, in.keys(), dIn.queries(), sequences);
            cublas.multiply(context, size, context, dScores.transposed(), in.queries(), dIn.keys(), sequences);
        }
    }

    private static long scale(Shape shape) {
        return bits(1 / Math.sqrt(shape.headSize()));
    }

    @Override
    public void logits(Floats x, Floats embedding, Floats logits, int rows, Shape shape) {
        cublas.multiply(rows, shape.vocabulary(), shape.width(), matrix(x, shape.width()),
                matrix(embedding, shape.width()).transposed(), matrix(logits, shape.vocabulary()), 1);
    }

    @Override
    public void logitsBackward(Floats x, Floats embedding, Floats dLogits, Floats dx, Floats dEmbedding, int rows,
            Shape shape) {
        Operand gradient = matrix(dLogits, shape.vocabulary());
        cublas.multiply(rows, shape.width(), shape.vocabulary(), gradient, matrix(embedding, shape.width()),
                matrix(dx, shape.width()), 1);
        cublas.multiplyAndAdd(shape.vocabulary(), shape.width(), rows, gradient.transposed(), matrix(x, shape.width()),
                matrix(dEmbedding, shape.width()), 1);
    }

    @Override
    public void crossEntropy(TokenBatch batch, Floats logits, int vocabulary, Losses losses, int slot) {
        CudaTokens on = CudaTokens.of(batch);
        long sum = ((Sums) losses).slots.buffer().address() + (long) slot * Sums.BYTES;
        crossEntropy.blocks(on.rows, address(logits), on.labels.address(), on.labelled.address(), on.losses.address(),
                on.rows, vocabulary);
        addLosses.blocks(1, on.losses.address(), on.rows, on.labelled.address(), sum);
    }

    @Override
    public void clip(List<Parameter> parameters, double maxNorm, Floats scale) {
        long parts = parameters.stream().mapToLong(each -> parts(each.gradient())).sum();
        if (squares.byteSize() < parts * Double.BYTES) {
            squares = memory.allocate(parts * Double.BYTES);
        }
        long to = squares.address();
        for (Parameter each : parameters) {
            Floats gradient = each.gradient();
            sumOfSquares.blocks(parts(gradient), address(gradient), gradient.size(), to);
            to += parts(gradient) * Double.BYTES;
        }
        clip.blocks(1, squares.address(), parts, address(scale), bits(maxNorm), bits(AdamW.NORM_EPSILON));
    }

    private static long parts(Floats floats) {
        return Math.ceilDiv(floats.size(), PART_FLOATS);
    }

    @Override
    public void adamW(Parameter parameter, Floats scale, AdamW.Rates rates, float decay) {
        int count = parameter.weight().size();
        adamW.each(count, address(parameter.weight()), address(parameter.gradient()), address(parameter.mean()),
                address(parameter.square()), address(scale), count, bits(AdamW.BETA1), bits(AdamW.BETA2),
                bits(AdamW.EPSILON), bits(rates.learning()), bits(rates.step()), bits(rates.squareCorrection()),
                bits(decay));
    }

    /** How a number is written into a kernel's words. */
    private static long bits(double value) {
        return Double.doubleToRawLongBits(value);
    }

    @Override
    public void close() {
        memory.close();
        kernels.close();
        cublas.close();
        stream.close();
        device.close();
    }
}
