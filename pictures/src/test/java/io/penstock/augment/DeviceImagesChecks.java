// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.device.Device;
import io.penstock.device.DeviceException;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.image.reading.Oracle;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.DeviceLoader;
import io.penstock.loader.DeviceLoaders;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Column;
import io.penstock.testing.CapturedLog;
import io.penstock.testing.MemoryRecordStore;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What runs over the simulated CUDA runtime and nvJPEG, in a JVM of its own: each method is a check, named as the
 * argument. The simulated nvJPEG decodes by libturbojpeg, so pixels are exactly those of workers that use it.
 */
public final class DeviceImagesChecks {

    private static final int BATCH = 21;
    private static final int EPOCHS = 2;
    private static final int IMAGE_BYTES = 24 * 20 * 3;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};
    private static final Augment FRAME = Augment.images().randomResizedCrop(24, 20).horizontalFlip(0.5);
    private static final List<Augment> PIPELINES = List.of(FRAME,
            FRAME.colorJitter(0.4, 0.4, 0.4, 0.1).normalize(MEAN, DEVIATION).to(DType.BF16, Layout.NCHW),
            Augment.images().resize(32).centerCrop(24, 20).normalize(MEAN, DEVIATION),
            Augment.images().resize(24, 20).verticalFlip(0.5));
    private static final List<String> CALLS = List.of("nvjpegCreateEx", "nvjpegSetDeviceMemoryPadding",
            "nvjpegSetPinnedMemoryPadding", "nvjpegJpegStateCreate", "nvjpegJpegStreamCreate",
            "nvjpegDecodeBatchedInitialize", "nvjpegDecodeBatched", "nvjpegDecode");

    private DeviceImagesChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        Device.cuda(0).close();
        DeviceImagesChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    private static List<byte[]> files() throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            files.addAll(Oracle.files("noise_420.jpg", "noise_422_progressive.jpg", "gray_progressive.jpg", "ycck.jpg",
                    "orientation_6.jpg", "restarts_420.jpg", "type6_8bit.png", "adobe_rgb.jpg", "sampled_411.jpg"));
        }
        return files;
    }

    private static Dataset dataset(MemoryRecordStore store) {
        return RecordFields.of(store).and("jpg");
    }

    private static MemoryRecordStore store(List<byte[]> files) {
        return new MemoryRecordStore(List.of(Column.bytes("jpg", "jpg")),
                files.stream().map(file -> new byte[][] {file}).toArray(byte[][][]::new));
    }

    private static DataLoaderBuilder settings(Dataset dataset) {
        return DataLoader.builder(dataset).batchSize(BATCH).shuffle(42).endEpoch(EPOCHS).workers(2);
    }

    private static byte[] bytes(Map<String, Tensor> batch, String field) {
        return batch.get(field).segment().toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertBatchesAreThoseOfTheWorkers(Augment augment, DeviceImages decoding, Device device)
            throws IOException {
        try (MemoryRecordStore store = store(files());
                DataLoader workers = settings(augment.mapped(dataset(store), "jpg")).open();
                DataLoader decoded = settings(decoding.mapped(dataset(store), "jpg")).device(device)
                        .onDevice(decoding.stages("jpg")).open()) {
            while (workers.hasNext()) {
                try (Batch batch = decoded.next(); Batch expected = workers.next()) {
                    Map<String, Tensor> found = batch.toHost();
                    assertArrayEquals(expected.tensor("jpg").segment().toArray(ValueLayout.JAVA_BYTE),
                            bytes(found, "jpg"));
                    byte[] all = new byte[batch.count()];
                    Arrays.fill(all, (byte) 1);
                    assertArrayEquals(all, bytes(found, "jpg_decoded"));
                }
            }
            assertFalse(decoded.hasNext());
        }
    }

    static void batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder() throws IOException {
        for (boolean hasEngine : new boolean[] {false, true}) {
            CudaSimulator.reset();
            try (Device device = Device.cuda(0)) {
                CudaSimulator.setEngine(hasEngine);
                CudaSimulator.setSpeed(200, 50);
                for (Augment augment : PIPELINES) {
                    DeviceImages decoding = DeviceImages.of(augment, device);
                    assertBatchesAreThoseOfTheWorkers(augment, decoding, device);
                    assertBatchesAreThoseOfTheWorkers(augment, decoding.fileBytes(1 << 15).scratchBytes(1 << 20),
                            device);                                            // a batch is decoded in groups
                }
                assertBatchesAreThoseOfTheWorkers(FRAME, DeviceImages.of(FRAME, device).fileBytes(12_000), device);
                assertEquals(hasEngine ? "nvJPEG 13.0.1, JPEG engine" : "nvJPEG 13.0.1, no JPEG engine",
                        DeviceImages.of(FRAME, device).decoder());
                assertTrue(CudaSimulator.calls("nvjpegDecodeBatched") > 0);
                assertEquals(hasEngine, CudaSimulator.calls("nvjpegDecode") > 0);
            }
            assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
        }
    }

    static void severalDevicesDecodeTheirOwnBatches() throws IOException {
        CudaSimulator.setDevices(2);
        CudaSimulator.setEngine(true);
        List<byte[]> files = files();
        files.add(Oracle.bytes("noise_420.jpg"));                                   // as many for either
        try (Device first = Device.cuda(0); Device second = Device.cuda(1); MemoryRecordStore store = store(files);
                DataLoader workers = settings(FRAME.mapped(dataset(store), "jpg")).batchSize(4).endEpoch(1).open()) {
            Map<Long, byte[]> expected = new HashMap<>();
            while (workers.hasNext()) {
                try (Batch batch = workers.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        expected.put(batch.position(row),
                                batch.tensor("jpg").row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                    }
                }
            }
            DeviceImages decoding = DeviceImages.of(FRAME, first);
            try (DeviceLoaders loaders = DataLoader.builder(decoding.mapped(dataset(store), "jpg")).batchSize(4)
                    .shuffle(42).endEpoch(1).workers(2).onDevice(decoding.stages("jpg")).devices(first, second)
                    .openAll()) {
                for (DeviceLoader loader : loaders) {
                    loader.device().makeCurrent();
                    while (loader.hasNext()) {
                        try (Batch batch = loader.next()) {
                            Tensor found = batch.toHost().get("jpg");
                            for (int row = 0; row < batch.count(); row++) {
                                assertArrayEquals(expected.remove(batch.position(row)),
                                        found.row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                            }
                        }
                    }
                }
            }
            assertTrue(expected.isEmpty());
        }
        assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
    }

    private static boolean isAlone(DeviceImages decoding) {
        boolean isAlone = decoding.decoder().equals("workers") || !JpegLibrary.preferred().isPresent();
        if (isAlone) {
            System.out.println("nothing to compare: decoded by " + decoding.decoder() + " and "
                    + JpegLibrary.preferred());
        }
        return isAlone;
    }

    /** Of decoders that replicate chroma instead of interpolating it, the difference would be about 6. */
    static void pixelsAreNearThoseOfTheWorkers() throws IOException {
        Augment augment = Augment.images().centerCrop(24, 32);
        List<byte[]> files = Oracle.files("noise_420.jpg", "noise_422_progressive.jpg", "restarts_420.jpg",
                "gray_progressive.jpg");
        try (Device device = Device.cuda(0); MemoryRecordStore store = store(files)) {
            DeviceImages decoding = DeviceImages.of(augment, device);
            if (isAlone(decoding)) {
                return;
            }
            try (DataLoader workers = DataLoader.builder(augment.mapped(dataset(store), "jpg")).batchSize(4).open();
                    DataLoader decoded = DataLoader.builder(decoding.mapped(dataset(store), "jpg")).batchSize(4)
                            .device(device).onDevice(decoding.stages("jpg")).open();
                    Batch expected = workers.next(); Batch batch = decoded.next()) {
                byte[] found = bytes(batch.toHost(), "jpg");
                byte[] near = expected.tensor("jpg").segment().toArray(ValueLayout.JAVA_BYTE);
                for (int image = 0; image < 4; image++) {
                    double sum = 0;
                    int bytes = near.length / 4;
                    for (int i = image * bytes; i < (image + 1) * bytes; i++) {
                        sum += Math.abs((near[i] & 0xFF) - (found[i] & 0xFF));
                    }
                    assertTrue(sum / bytes <= 2, "image " + image + ": mean difference " + sum / bytes);
                }
            }
        }
    }

    /** A decoder that writes ahead of the stream would now and then destroy images of other groups. */
    static void imagesDoNotDependOnTheirGroups() throws IOException {
        try (Device device = Device.cuda(0); MemoryRecordStore store = store(files())) {
            DeviceImages whole = DeviceImages.of(FRAME, device);
            if (isAlone(whole)) {
                return;
            }
            DeviceImages inGroups = whole.scratchBytes(1 << 20);
            try (DataLoader first = settings(whole.mapped(dataset(store), "jpg")).endEpoch(5).device(device)
                    .onDevice(whole.stages("jpg")).open();
                    DataLoader second = settings(inGroups.mapped(dataset(store), "jpg")).endEpoch(5).device(device)
                            .onDevice(inGroups.stages("jpg")).open()) {
                while (first.hasNext()) {
                    try (Batch expected = first.next(); Batch batch = second.next()) {
                        assertArrayEquals(bytes(expected.toHost(), "jpg"), bytes(batch.toHost(), "jpg"));
                    }
                }
            }
        }
    }

    static void aDamagedFileIsOneBlackImageThatIsMarked() throws IOException {
        byte[] good = Oracle.bytes("noise_420.jpg");
        byte[] damaged = good.clone();
        Arrays.fill(damaged, 700, 1200, (byte) 0xFF);
        List<byte[]> files = List.of(good, good, damaged, good, good);
        for (boolean hasEngine : new boolean[] {false, true}) {
            CudaSimulator.setEngine(hasEngine);
            try (Device device = Device.cuda(0); CapturedLog log = new CapturedLog("io.penstock.device")) {
                Augment crop = Augment.images().resize(24, 20);
                DeviceImages decoding = DeviceImages.of(crop, device);
                try (MemoryRecordStore store = store(files);
                        DataLoader loader = DataLoader.builder(decoding.mapped(dataset(store), "jpg")).batchSize(5)
                                .endEpoch(1).device(device).onDevice(decoding.stages("jpg")).open();
                        Batch batch = loader.next()) {
                    Map<String, Tensor> found = batch.toHost();
                    assertArrayEquals(new byte[] {1, 1, 0, 1, 1}, bytes(found, "jpg_decoded"));
                    byte[] images = bytes(found, "jpg");
                    byte[] image = Arrays.copyOf(images, IMAGE_BYTES);
                    for (int row = 0; row < 5; row++) {
                        assertArrayEquals(row == 2 ? new byte[IMAGE_BYTES] : image,
                                Arrays.copyOfRange(images, row * IMAGE_BYTES, (row + 1) * IMAGE_BYTES));
                    }
                }
                assertEquals(1, log.lines().stream().filter(line -> line.equals("jpg: 1 damaged JPEG files are black "
                        + "images, marked 0 in jpg_decoded")).count(), () -> log.lines().toString());
            }
        }
    }

    static void aFileThatIsCutOrHasABadHeaderIsABadSample() throws IOException {
        byte[] good = Oracle.bytes("noise_420.jpg");
        List<byte[]> files = List.of(good, Arrays.copyOf(good, good.length / 2), good, new byte[] {1, 2, 3}, good);
        try (Device device = Device.cuda(0)) {
            DeviceImages decoding = DeviceImages.of(FRAME, device);
            try (MemoryRecordStore store = store(files);
                    DataLoader loader = DataLoader.builder(decoding.mapped(dataset(store), "jpg")).batchSize(5)
                            .endEpoch(1).onBadSample(BadSamplePolicy.SKIP).device(device)
                            .onDevice(decoding.stages("jpg")).open();
                    Batch batch = loader.next()) {
                assertEquals(3, batch.valid());
                assertEquals(List.of(1L, 3L), loader.badSamples().stream().map(bad -> bad.sample()).sorted().toList());
            }
        }
    }

    static void everyCallThatFailsIsToldAndLeavesNothing() throws IOException {
        for (String call : CALLS) {
            CudaSimulator.reset();
            CudaSimulator.setEngine(true);
            try (Device device = Device.cuda(0)) {
                DeviceImages decoding = DeviceImages.of(FRAME, device);
                CudaSimulator.failAfter(call, 5, 0, Long.MAX_VALUE);
                try (MemoryRecordStore store = store(files())) {
                    RuntimeException e = assertThrows(RuntimeException.class, () -> {
                        try (DataLoader loader = settings(decoding.mapped(dataset(store), "jpg")).device(device)
                                .onDevice(decoding.stages("jpg")).open()) {
                            while (loader.hasNext()) {
                                loader.next().close();
                            }
                        }
                    }, call);
                    Throwable cause = e;
                    while (cause.getCause() != null) {
                        cause = cause.getCause();
                    }
                    assertTrue(e.getMessage().contains("cuda:0: " + call + ": NVJPEG_STATUS_ALLOCATOR_FAILURE (5)"),
                            e::toString);
                    assertFalse(e instanceof BatchException, e::toString);
                    assertInstanceOf(DeviceException.class, cause);
                }
                CudaSimulator.failAfter("", 0, 0, 0);
            }
            assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
        }
    }

    static void whereNvJpegFailsAtOnceTheWorkersDecode() throws IOException {
        CudaSimulator.fail("nvjpegCreateEx", 6);
        assertWorkersDecode(
                "JPEG files are decoded by the workers: cuda:0: nvjpegCreateEx: NVJPEG_STATUS_EXECUTION_FAILED (6)");
    }

    static void whereItIsMissingTheWorkersDecode() throws IOException {
        assertWorkersDecode("JPEG files are decoded by the workers: nvJPEG was not found: property penstock.nvjpeg: ");
    }

    private static void assertWorkersDecode(String message) throws IOException {
        try (Device device = Device.cuda(0); CapturedLog log = new CapturedLog(DeviceImages.class.getName());
                MemoryRecordStore store = store(files())) {
            DeviceImages decoding = DeviceImages.of(FRAME, device);
            assertEquals(1, log.lines().size());
            assertTrue(log.lines().getFirst().startsWith(message), log.lines()::toString);
            assertEquals("workers", decoding.decoder());
            assertEquals(0, decoding.stages("jpg").length);
            assertEquals(FRAME.mapped(dataset(store), "jpg").fingerprint(),
                    decoding.mapped(dataset(store), "jpg").fingerprint());
        }
    }

    static void theDecoderIsPartOfTheFingerprint() throws IOException {
        try (Device device = Device.cuda(0); MemoryRecordStore store = store(files())) {
            String workers = FRAME.mapped(dataset(store), "jpg").fingerprint();
            String without = DeviceImages.of(FRAME, device).mapped(dataset(store), "jpg").fingerprint();
            CudaSimulator.setEngine(true);
            String with = DeviceImages.of(FRAME, device).mapped(dataset(store), "jpg").fingerprint();
            assertEquals(3, List.of(workers, without, with).stream().distinct().count());
            assertTrue(with.contains("by nvJPEG 13.0.1, JPEG engine"), with);
        }
    }
}
