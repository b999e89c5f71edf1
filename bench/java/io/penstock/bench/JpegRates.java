// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.augment.Augment;
import io.penstock.augment.DeviceImages;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import io.penstock.testing.MemoryRecordStore;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Images a second from JPEG files to {@code bf16 [3, 224, 224]} on a device, by randomResizedCrop, flip and
 * normalization: decoded by nvJPEG, and by the workers. By turns in one process. Prints a JSON line for each.
 *
 * <pre>
 *   --files FOLDER      JPEG files, as JpegFiles writes them
 *   --device NAME       cuda (default) or cuda:N
 *   --batch N           images (256; 4 over the simulated runtime)
 *   --workers N         those that decode (as many as processors); beside nvJPEG 4
 *   --rounds N          rounds of each, of which the median counts (3)
 *   --round-ms N        the least time of a round (2000; 100 over the simulated runtime)
 * </pre>
 */
public final class JpegRates {

    private static final int BESIDE = 4;
    private static final int EPOCH = 1 << 16;
    private static final Augment AUGMENT = Augment.images().randomResizedCrop(224, 224).horizontalFlip(0.5)
            .normalize(new float[] {0.485f, 0.456f, 0.406f}, new float[] {0.229f, 0.224f, 0.225f})
            .to(DType.BF16, Layout.NCHW);

    private final Device device;
    private final DeviceStream stream;
    private final int batch;
    private final int workers;
    private final int rounds;
    private final long roundNanos;

    private JpegRates(Device device, DeviceStream stream, Map<String, String> options) {
        boolean isSlow = CudaLedger.isSimulated();
        this.device = device;
        this.stream = stream;
        this.batch = Integer.parseInt(options.getOrDefault("batch", isSlow ? "4" : "256"));
        this.workers = Integer.parseInt(
                options.getOrDefault("workers", "" + Runtime.getRuntime().availableProcessors()));
        this.rounds = Integer.parseInt(options.getOrDefault("rounds", "3"));
        this.roundNanos = Long.parseLong(options.getOrDefault("round-ms", isSlow ? "100" : "2000")) * 1_000_000;
    }

    /** One way to decode. */
    private record Side(String name, String decoder, int workers, DataLoader loader, double[] rates) {
    }

    /** Takes the options above. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = LoaderThroughput.options(args);
        try (Device device = Device.open(options.getOrDefault("device", "cuda"));
                DeviceStream stream = device.openStream("train")) {
            device.makeCurrent();
            new JpegRates(device, stream, options).run(Path.of(options.get("files")));
        } catch (DeviceUnavailableException e) {
            System.out.println(Json.write(Map.of("kind", "unavailable", "message", e.getMessage())));
            System.exit(1);
        }
    }

    private void run(Path folder) throws IOException {
        List<byte[][]> files = new ArrayList<>();
        try (Stream<Path> found = Files.list(folder)) {
            for (Path file : found.sorted().toList()) {
                files.add(new byte[][] {Files.readAllBytes(file)});
            }
        }
        List<Side> sides = new ArrayList<>();
        try (var store = new MemoryRecordStore(List.of(Column.bytes("jpg", "jpg")), files.toArray(byte[][][]::new))) {
            Dataset images = RecordFields.of(store).and("jpg")
                    .select(LongStream.range(0, EPOCH).map(sample -> sample % files.size()).toArray());
            try {
                if (JpegLibrary.preferred().isPresent()) {
                    sides.add(side("workers", JpegLibrary.preferred().toString(), workers,
                            AUGMENT.mapped(images, "jpg")));
                }
                DeviceImages decoding = DeviceImages.of(AUGMENT, device);
                DeviceStage[] stages = decoding.stages("jpg");
                if (stages.length > 0) {
                    sides.add(side("device", decoding.decoder(), Math.min(BESIDE, workers),
                            decoding.mapped(images, "jpg"), stages));
                }
                measure(sides);
            } finally {
                sides.forEach(side -> side.loader.close());
            }
        }
    }

    private Side side(String name, String decoder, int threads, Dataset dataset, DeviceStage... stages) {
        return new Side(name, decoder, threads, DataLoader.builder(dataset).batchSize(batch).shuffle(1)
                .workers(threads).device(device).onDevice(stages).open(), new double[rounds]);
    }

    private void measure(List<Side> sides) {
        sides.forEach(side -> take(side, roundNanos / 2));
        for (int round = 0; round < rounds; round++) {
            for (Side side : sides) {
                side.rates[round] = take(side, roundNanos);
            }
        }
        for (Side side : sides) {
            var line = new LinkedHashMap<String, Object>();
            line.put("kind", "jpeg");
            line.put("decoded_by", side.name);
            line.put("decoder", side.decoder);
            line.put("workers", side.workers);
            line.put("batch", batch);
            line.put("images_per_second", Math.round(median(side.rates)));
            if (sides.size() > 1) {
                line.put("over_workers", Math.round(100 * median(side.rates) / median(sides.getFirst().rates)) / 100.0);
            }
            System.out.println(Json.write(line));
        }
        if (sides.size() < 2) {
            System.out.println(Json.write(Map.of("kind", "jpeg-missing", "message", sides.isEmpty()
                    ? "neither nvJPEG nor libturbojpeg was found"
                    : "found " + sides.getFirst().decoder + " alone, so there is nothing beside it")));
        }
    }

    /** Takes batches for a time, and returns how many images a second there were. */
    private double take(Side side, long nanos) {
        long begin = System.nanoTime();
        long images = 0;
        while (System.nanoTime() - begin < nanos) {
            try (Batch taken = side.loader.next(stream)) {
                images += taken.count();
            }
        }
        stream.synchronize();
        return images * 1e9 / (System.nanoTime() - begin);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
