// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.pass;

import io.penstock.augment.step.Passes.Pass;
import io.penstock.augment.value.Size;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.OpenStage;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The passes over a batch. Between them the images lie in two pieces of scratch memory by turns, which all batches
 * use: their work runs in order.
 */
public final class OpenPasses implements OpenStage {

    private final int images;
    private final int parameters;
    private final List<Pass> passes;
    private final List<MemorySegment> arguments;
    private final @Nullable ImageTransform ending;
    private final SlabLayout outputs;
    private final DeviceBuffer scratch;
    /** Where each pass writes in the scratch memory; -1 for the output. */
    private final long[] targets;

    public OpenPasses(Device device, SlabLayout fields, int images, int parameters, List<Pass> passes, int rowBytes,
            TensorSpec augmented, @Nullable ImageTransform ending, TensorSpec result) {
        this.images = images;
        this.parameters = parameters;
        this.ending = ending;
        int channels = (int) augmented.dim(2);
        this.passes = passes.isEmpty() && ending == null ? List.of(copy(augmented)) : passes;
        this.arguments = this.passes.stream().map(pass -> PassArguments.of(pass, channels, rowBytes)).toList();
        long batch = fields.fields().get(images).dim(0);
        this.outputs = SlabLayout.of(batched(batch, result));
        this.targets = new long[this.passes.size()];
        long[] most = new long[2];                              // bytes of the two pieces
        long weights = 0;
        for (int p = 0; p < targets.length; p++) {
            Pass pass = this.passes.get(p);
            if (ending != null || p + 1 < targets.length) {
                most[p % 2] = Math.max(most[p % 2], SlabLayout.align(
                        batch * pass.out().height() * pass.out().width() * channels));
            }
            if (pass.resizes()) {
                weights = Math.max(weights, batch * PassArguments.weightBytes(arguments.get(p), pass.after(0)));
            }
        }
        long tables = SlabLayout.align(batch * PassArguments.NUMBERS * Float.BYTES);
        long weightsAt = tables + SlabLayout.align(batch * PassArguments.TABLE_BYTES);
        long first = weightsAt + SlabLayout.align(weights);
        for (int p = 0; p < targets.length; p++) {
            targets[p] = ending == null && p + 1 == targets.length ? -1 : p % 2 == 0 ? first : first + most[0];
        }
        this.scratch = device.allocate(first + most[0] + most[1]);
        for (MemorySegment pass : arguments) {
            PassArguments.NUMBERS_ADDRESS.set(pass, scratch.address());
            PassArguments.TABLES.set(pass, scratch.address() + tables);
            PassArguments.WEIGHTS.set(pass, scratch.address() + weightsAt);
        }
    }

    /** The pass of a pipeline without steps. */
    private static Pass copy(TensorSpec image) {
        var size = new Size((int) image.dim(0), (int) image.dim(1));
        return new Pass(List.of(), size, size);
    }

    private static TensorSpec batched(long batch, TensorSpec image) {
        long[] shape = IntStream.rangeClosed(0, image.rank())
                .mapToLong(d -> d == 0 ? batch : image.dim(d - 1)).toArray();
        return new TensorSpec(image.name(), image.dtype(), shape);
    }

    @Override
    public SlabLayout outputs() {
        return outputs;
    }

    @Override
    public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
        for (int d = 1; d < 4; d++) {
            if (in.dim(images, d) != in.layout().fields().get(images).dim(d)) {
                throw new IllegalArgumentException(in.layout().fields().get(images) + ": dimension " + d + " is "
                        + in.dim(images, d) + " in this batch, expected it to be the same in all");
            }
        }
        long batch = in.dim(images, 0);
        out.setDim(0, 0, batch);
        long source = in.address(images);
        for (int p = 0; p < targets.length; p++) {
            long target = targets[p] < 0 ? out.address(0) : scratch.address() + targets[p];
            enqueue(stream, p, batch, source, in.address(parameters), target);
            source = target;
        }
        if (ending != null) {
            ending.enqueue(stream, source, batch, 0, out.address(0));
        }
    }

    private void enqueue(DeviceStream stream, int p, long batch, long source, long table, long target) {
        Pass pass = passes.get(p);
        MemorySegment words = arguments.get(p);
        PassArguments.SOURCE.set(words, source);
        PassArguments.TARGET.set(words, target);
        PassArguments.BATCH.set(words, batch);
        PassArguments.TABLE.set(words, table);
        if (pass.prepares()) {
            stream.launch(PassArguments.PREPARE, Kernel.blocksForItems(batch * pass.preparedItems()), words);
        }
        if (pass.measures()) {
            stream.launch(PassArguments.MEASURE, Kernel.blocks(batch), words);
        }
        stream.launch(PassArguments.PASS, Kernel.blocks(batch * pass.pieces()), words);
    }

    @Override
    public void close() {
        scratch.close();
    }
}
