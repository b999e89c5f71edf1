// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Passes.Pass;
import io.penstock.augment.step.PixelOp.Kind;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.DeviceThread;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.ImageTransform;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The passes over a batch. Between them the images lie in two pieces of scratch memory by turns, and copies that chains
 * of operations change lie behind each other in a third. All batches use the same: their work runs in order.
 */
public final class OpenPasses implements OpenStage {

    /** Where images lie: numbers below 0 for the stage's fields, 0 and 1 for the pieces, from 2 on for the chains. */
    private static final int INPUT = -1;
    private static final int OUTPUT = -2;
    private static final int CHAINS = 2;

    private final int images;
    private final int parameters;
    private final List<Pass> passes;
    private final List<MemorySegment> arguments;
    private final @Nullable ImageTransform ending;
    private final int channels;
    private final SlabLayout outputs;
    private final DeviceBuffer scratch;
    /** Where each pass reads and writes. */
    private final int[] sources;
    private final int[] targets;
    /** Where in the scratch memory the pieces and the chains are. */
    private final long[] places = new long[CHAINS + 1];

    /**
     * Prepares passes.
     *
     * @param device runs them
     * @param fields the batch's
     * @param images which of them has the images
     * @param parameters which of them has the rows of parameters
     * @param passes in order; none to copy
     * @param rowBytes the bytes of a row of parameters
     * @param augmented an image behind the passes
     * @param ending what happens to it then; null for nothing
     * @param result an image behind that
     */
    public OpenPasses(Device device, SlabLayout fields, int images, int parameters, List<Pass> passes, int rowBytes,
            TensorSpec augmented, @Nullable ImageTransform ending, TensorSpec result) {
        this.images = images;
        this.parameters = parameters;
        this.ending = ending;
        this.channels = (int) augmented.dim(2);
        this.passes = passes.isEmpty() && ending == null ? List.of(copy(augmented)) : passes;
        this.arguments = this.passes.stream().map(pass -> PassArguments.of(pass, channels, rowBytes)).toList();
        this.sources = new int[this.passes.size()];
        this.targets = new int[this.passes.size()];
        place();
        long batch = fields.fields().get(images).dim(0);
        this.outputs = SlabLayout.of(batched(batch, result));
        long[] most = new long[places.length];                      // bytes of the pieces, and of a blur or the chains
        long weights = 0;
        boolean isNoisy = false;
        for (int p = 0; p < targets.length; p++) {
            Pass pass = this.passes.get(p);
            long bytes = batch * pass.out().height() * pass.out().width() * channels;
            if (targets[p] >= 0) {
                int piece = Math.min(targets[p], CHAINS);
                most[piece] = Math.max(most[piece], (1 + targets[p] - piece) * bytes);
            }
            if (pass.begins(Kind.BLUR)) {
                most[CHAINS] = Math.max(most[CHAINS], Float.BYTES * batch * pass.in().height() * pass.in().width()
                        * channels);
            }
            weights = Math.max(weights, batch * PassArguments.weightBytes(arguments.get(p), pass));
            isNoisy |= gathers(pass, Kind.NOISE);
        }
        float[] normals = isNoisy ? GaussianNoise.normals() : new float[0];
        long tables = SlabLayout.align(batch * PassArguments.NUMBERS * Float.BYTES);
        long weightsAt = tables + SlabLayout.align(batch * PassArguments.TABLE_BYTES);
        long normalsAt = weightsAt + SlabLayout.align(weights);
        long end = normalsAt + SlabLayout.align((long) normals.length * Float.BYTES);
        for (int i = 0; i < places.length; i++) {
            places[i] = end;
            end += SlabLayout.align(most[i]);
        }
        this.scratch = device.allocate(end);
        for (int p = 0; p < targets.length; p++) {
            MemorySegment pass = arguments.get(p);
            PassArguments.NUMBERS_ADDRESS.set(pass, scratch.address());
            PassArguments.TABLES.set(pass, scratch.address() + tables);
            PassArguments.WEIGHTS.set(pass, scratch.address() + weightsAt);
            PassArguments.MORE.set(pass, scratch.address()
                    + (gathers(this.passes.get(p), Kind.NOISE) ? normalsAt : places[CHAINS]));
        }
        if (isNoisy) {
            try {
                DeviceThread.run(device, "normals", () -> upload(device, normals, normalsAt));
            } catch (RuntimeException | Error e) {
                scratch.close();
                throw e;
            }
        }
    }

    /** Assigns memory: the image alternates between the two pieces, and each chain ends in its own place. */
    private void place() {
        int image = INPUT;
        for (int p = 0; p < targets.length; p++) {
            int chain = passes.get(p).chain();
            int free = image == 0 ? 1 : 0;
            if (chain == 0) {
                sources[p] = image;
                targets[p] = ending == null && p + 1 == targets.length ? OUTPUT : free;
                image = targets[p];
            } else {
                sources[p] = p > 0 && passes.get(p - 1).chain() == chain ? targets[p - 1] : image;
                int left = 0;
                while (passes.get(p + left + 1).chain() == chain) {
                    left++;
                }
                targets[p] = left % 2 == 0 ? CHAINS + chain - 1 : free;
            }
        }
    }

    private static boolean gathers(Pass pass, Kind kind) {
        return pass.gather() >= 0 && pass.operations().get(pass.gather()).op().kind() == kind;
    }

    private void upload(Device device, float[] table, long at) {
        long bytes = (long) table.length * Float.BYTES;
        try (PinnedBuffer pinned = device.allocatePinned(bytes); DeviceStream stream = device.openStream("normals")) {
            MemorySegment.copy(table, 0, pinned.segment(), LittleEndian.F32, 0, table.length);
            stream.copyToDevice(scratch, at, pinned, 0, bytes);
            stream.synchronize();
        }
    }

    /** Returns the pass of a pipeline without steps. */
    private static Pass copy(TensorSpec image) {
        var size = new Size((int) image.dim(0), (int) image.dim(1));
        return new Pass(List.of(), size, size, 0);
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
        long last = in.address(images);
        for (int p = 0; p < targets.length; p++) {
            Pass pass = passes.get(p);
            long source = sources[p] == INPUT ? in.address(images) : address(sources[p], batch, pass.in());
            last = targets[p] == OUTPUT ? out.address(0) : address(targets[p], batch, pass.out());
            enqueue(stream, p, batch, source, in.address(parameters), last);
        }
        if (ending != null) {
            ending.enqueue(stream, last, batch, out.address(0));
        }
    }

    private long address(int place, long batch, Size image) {
        int piece = Math.min(place, CHAINS);
        return scratch.address() + places[piece] + (place - piece) * batch * image.height() * image.width() * channels;
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
        if (pass.begins(Kind.BLUR)) {
            stream.launch(PassArguments.COLUMNS, Kernel.blocksForItems(
                    batch * pass.in().height() * pass.in().width() * channels), words);
        }
        stream.launch(PassArguments.PASS, Kernel.blocks(batch * pass.pieces()), words);
    }

    @Override
    public void close() {
        scratch.close();
    }
}
