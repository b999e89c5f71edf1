// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.augment.Augment;
import io.penstock.augment.ParameterTable;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.PinnedBuffer;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform;
import io.penstock.transform.ImageTransform.Layout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * How long augmentation takes on a device, beside normalization alone of images of the result's size: batches of
 * {@code u8 [256, 256, 3]} in its memory become {@code bf16 [3, 224, 224]}. All by turns in one process. Prints a JSON
 * line a stage.
 *
 * <pre>
 *   --device NAME       cuda (default), cuda:N or host
 *   --batch N           images (256; 4 over the simulated runtime and on the host)
 *   --rounds N          rounds of each, of which the median counts (5)
 *   --round-ms N        the least time of a round (100)
 * </pre>
 */
public final class StageRates {

    private static final int SIDE = 256;
    private static final int CROP = 224;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    /** A pipeline; the bound is of its time over that of the first. */
    private record Candidate(String name, double bound, Augment augment) {
    }

    private static final Augment CROPPED = Augment.images().randomCrop(CROP, CROP).horizontalFlip(0.5);
    private static final AffineRanges RANGES = AffineRanges.degrees(15).translate(0.1, 0.1).scale(0.8, 1.2).shear(5, 5);
    private static final List<Candidate> CANDIDATES = List.of(
            new Candidate("crop, flip", 3, CROPPED),
            new Candidate("crop, flip, affine, jitter without contrast", 3,
                    CROPPED.affine(RANGES, Interpolation.BILINEAR, 0).colorJitter(0.4, 0, 0.4, 0.1)),
            new Candidate("crop, flip, affine, jitter", 5,
                    CROPPED.affine(RANGES, Interpolation.BILINEAR, 0).colorJitter(0.4, 0.4, 0.4, 0.1)),
            new Candidate("resized crop, flip", 3,
                    Augment.images().randomResizedCrop(CROP, CROP).horizontalFlip(0.5)),
            new Candidate("resized crop, flip, RandAugment", 5,
                    Augment.images().randomResizedCrop(CROP, CROP).horizontalFlip(0.5).randAugment()));

    private final Device device;
    private final DeviceStream stream;
    private final int batch;
    private final int rounds;
    private final long roundNanos;
    private final List<AutoCloseable> open = new ArrayList<>();

    private StageRates(Device device, DeviceStream stream, Map<String, String> options) {
        this.device = device;
        this.stream = stream;
        boolean isSlow = CudaLedger.isSimulated() || device.hostAccessible();
        this.batch = Integer.parseInt(options.getOrDefault("batch", isSlow ? "4" : "256"));
        this.rounds = Integer.parseInt(options.getOrDefault("rounds", "5"));
        this.roundNanos = Long.parseLong(options.getOrDefault("round-ms", "100")) * 1_000_000;
    }

    /** Takes the options above. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = LoaderThroughput.options(args);
        try (Device device = Device.open(options.getOrDefault("device", "cuda"));
                DeviceStream stream = device.openStream("stages")) {
            device.makeCurrent();
            new StageRates(device, stream, options).run();
        } catch (DeviceUnavailableException e) {
            System.out.println(Json.write(Map.of("kind", "unavailable", "message", e.getMessage())));
            System.exit(1);
        }
    }

    private void run() throws Exception {
        try {
            byte[] pixels = new byte[batch * SIDE * SIDE * 3];
            new SplittableRandom(1).nextBytes(pixels);
            long images = upload(pixels);
            var image = new TensorSpec("image", DType.U8, batch, SIDE, SIDE, 3);
            var work = new ArrayList<Runnable>();
            work.add(work(ImageTransform.of(Layout.NHWC, 3, CROP, CROP).normalize(MEAN, DEVIATION)
                    .to(DType.BF16, Layout.NCHW).stage("image"),
                    SlabLayout.of(new TensorSpec("image", DType.U8, batch, CROP, CROP, 3)), images));
            for (Candidate candidate : CANDIDATES) {
                Augment augment = candidate.augment.normalize(MEAN, DEVIATION).to(DType.BF16, Layout.NCHW);
                TensorSpec row = augment.table().field("image");
                work.add(work(augment.stage("image"),
                        SlabLayout.of(image, new TensorSpec(row.name(), DType.U8, batch, row.dim(0))), images,
                        upload(rows(augment))));
            }
            measure(work);
        } finally {
            for (AutoCloseable each : open.reversed()) {
                each.close();
            }
        }
    }

    private byte[] rows(Augment augment) {
        ParameterTable table = augment.table();
        byte[] rows = new byte[batch * table.rowBytes()];
        var random = new KeyedRandom(1, 0);
        for (int i = 0; i < batch; i++) {
            MemorySegment row = MemorySegment.ofArray(rows).asSlice((long) i * table.rowBytes(), table.rowBytes());
            table.write(augment.parameters(random, i, SIDE, SIDE), Tensor.of(row, DType.U8, table.rowBytes()));
        }
        return rows;
    }

    private long upload(byte[] content) {
        DeviceBuffer buffer = device.allocate(content.length);
        open.add(buffer);
        try (PinnedBuffer staging = device.allocatePinned(content.length)) {
            MemorySegment.copy(content, 0, staging.segment(), ValueLayout.JAVA_BYTE, 0, content.length);
            stream.copyToDevice(buffer, 0, staging, 0, content.length);
            stream.synchronize();
        }
        return buffer.address();
    }

    private Runnable work(DeviceStage stage, SlabLayout fields, long... addresses) {
        OpenStage opened = stage.open(device, fields);
        open.add(opened);
        DeviceBuffer result = device.allocate(opened.outputs().capacityBytes());
        open.add(result);
        var in = new DeviceFields(fields);
        var out = new DeviceFields(opened.outputs());
        for (int f = 0; f < addresses.length; f++) {
            in.setAddress(f, addresses[f]);
        }
        out.setAddress(0, result.address());
        return () -> {
            in.begin(batch);
            out.begin(batch);
            opened.enqueue(stream, in, out);
        };
    }

    private void measure(List<Runnable> work) {
        double[][] micros = new double[work.size()][rounds];
        int[] times = new int[work.size()];
        for (int w = 0; w < times.length; w++) {
            nanos(work.get(w), 2);
            times[w] = Math.clamp(roundNanos / Math.max(1, nanos(work.get(w), 2) / 2), 2, 10_000);
        }
        for (int i = 0; i < rounds; i++) {
            for (int w = 0; w < times.length; w++) {
                micros[w][i] = nanos(work.get(w), times[w]) / 1e3 / times[w];
            }
        }
        double base = median(micros[0]);
        for (int w = 0; w < times.length; w++) {
            var line = new LinkedHashMap<String, Object>();
            line.put("kind", "stage");
            line.put("stage", w == 0 ? "normalization alone" : CANDIDATES.get(w - 1).name);
            line.put("batch", batch);
            line.put("micros", Math.round(median(micros[w]) * 10) / 10.0);
            line.put("over_images", Math.round(median(micros[w]) / base * 100) / 100.0);
            if (w > 0) {
                line.put("bound", CANDIDATES.get(w - 1).bound);
            }
            System.out.println(Json.write(line));
        }
    }

    private long nanos(Runnable work, int times) {
        stream.synchronize();
        long begin = System.nanoTime();
        for (int i = 0; i < times; i++) {
            work.run();
        }
        stream.synchronize();
        return System.nanoTime() - begin;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
