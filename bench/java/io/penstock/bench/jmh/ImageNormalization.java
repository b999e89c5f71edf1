// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.Stack;
import io.penstock.dataset.TensorRows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.io.Rows;
import io.penstock.memory.Slab;
import io.penstock.store.TensorStore;
import io.penstock.transform.ImageTransform;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * {@link ImageTransform} on the host device, behind {@link Stack}, beside C loops that gather and normalize in one
 * pass: images {@code u8[3, side, side]} in random order, 64 a batch, to {@code f32}. Figures are images a second on
 * one thread. {@code transform} runs on a stream's, beside the caller, which waits; {@code mapped} as the images are
 * collated, in one pass, as the C loops do.
 *
 * <p>{@code cNormalized} rounds at every step as the transform does, and must write the same bits; {@code cScaled} is a
 * multiplication and an addition, the least that a normalization can be.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ImageNormalization {
    private static final int BATCH_IMAGES = 64;
    private static final int BATCHES = 4;
    private static final int SAMPLES = BATCHES * BATCH_IMAGES;
    private static final int CHANNELS = 3;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    /** Height and width. */
    @Param({"64", "224"})
    int side;

    /** Batches of {@code f32} in rotation; one is 3.1 or 38.5 MB. */
    @Param({"1", "4"})
    int ring;

    private final Arena arena = Arena.ofShared();
    private TensorStore store;
    private CollationRing collation;
    private CollationRing mappedCollation;
    private Device device;
    private DeviceStream stream;
    private ImageTransform transform;
    private long images;
    private long imageBytes;
    private MemorySegment output;
    private MemorySegment mean;
    private MemorySegment deviation;
    private MemorySegment scale;
    private MemorySegment shift;

    /** Opens the store and a stream, and compares. */
    @Setup
    public void open() throws IOException {
        store = BenchStores.images(side);
        TensorRows rows = TensorRows.of("image", store);
        collation = new CollationRing(rows, Stack.fields(), BATCH_IMAGES, 1, 1);
        Rows stored = rows.source(0).rows();
        images = stored.segment().address() + stored.offset(0);
        imageBytes = stored.rowBytes();
        device = Device.host();
        stream = device.openStream("normalize");
        transform = ImageTransform.of(ImageTransform.Layout.NCHW, CHANNELS, side, side).normalize(MEAN, DEVIATION);
        mappedCollation = new CollationRing(transform.mapped(rows, "image"), Stack.fields(), BATCH_IMAGES, ring, 1);
        output = arena.allocate(ring * batchBytes(), 4096);
        mean = arena.allocateFrom(ValueLayout.JAVA_FLOAT, MEAN);
        deviation = arena.allocateFrom(ValueLayout.JAVA_FLOAT, DEVIATION);
        scale = arena.allocate(ValueLayout.JAVA_FLOAT, CHANNELS);
        shift = arena.allocate(ValueLayout.JAVA_FLOAT, CHANNELS);
        for (int c = 0; c < CHANNELS; c++) {
            scale.setAtIndex(ValueLayout.JAVA_FLOAT, c, 1 / (255 * DEVIATION[c]));
            shift.setAtIndex(ValueLayout.JAVA_FLOAT, c, -MEAN[c] / DEVIATION[c]);
        }
        check();
    }

    private long batchBytes() {
        return BATCH_IMAGES * imageBytes * Float.BYTES;
    }

    private void check() {
        normalized(collation.nextOrder(1), 1, 1);
        try (Arena own = Arena.ofConfined()) {
            MemorySegment expected = own.allocate(batchBytes()).copyFrom(output.asSlice(0, batchBytes()));
            output.fill((byte) 0);
            collation.restart();
            transformed(1);
            long differs = expected.mismatch(output.asSlice(0, batchBytes()));
            if (differs >= 0) {
                throw new IllegalStateException("the C loop differs at byte " + differs);
            }
        }
    }

    @TearDown
    public void close() {
        stream.close();
        device.close();
        mappedCollation.close();
        collation.close();
        store.close();
        arena.close();
    }

    private void normalized(long order, long batches, long buffers) {
        GatherLibrary.normalized(images, order, batches, BATCH_IMAGES, CHANNELS, imageBytes / CHANNELS, mean.address(),
                deviation.address(), output.address(), buffers);
    }

    private void transformed(int batches) {
        for (int b = 0; b < batches; b++) {
            collation.collate(1);
            Slab slab = collation.lastSlab();
            transform.enqueue(stream, slab.segment().address(), BATCH_IMAGES,
                    output.address() + b % ring * batchBytes());
            stream.synchronize();
        }
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void transform() {
        transformed(BATCHES);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void mapped() {
        mappedCollation.collate(BATCHES);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void cNormalized() {
        normalized(collation.nextOrder(BATCHES), BATCHES, ring);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void cScaled() {
        GatherLibrary.scaled(images, collation.nextOrder(BATCHES), BATCHES, BATCH_IMAGES, CHANNELS,
                imageBytes / CHANNELS, scale.address(), shift.address(), output.address(), ring);
    }
}
