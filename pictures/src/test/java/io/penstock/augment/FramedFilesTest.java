// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.AugmentMap;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.device.Kernel;
import io.penstock.device.internal.Word;
import io.penstock.image.ImageDecoding;
import io.penstock.image.PixelFormat;
import io.penstock.image.ResizeFilter;
import io.penstock.image.nvjpeg.FramedImages;
import io.penstock.image.reading.FramedFile;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.Oracle;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.testing.HeapUse;
import io.penstock.transform.NativeLab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows of files with frames: what the kernels make of the decoded images is what workers make of the files. */
class FramedFilesTest {

    private static final int ROWS = 24;
    private static final int COLUMNS = 20;
    private static final int PIXEL_BYTES = ROWS * COLUMNS * 3;
    private static final int ROW_BYTES = 1 << 16;
    private static final long MEMORY = 1 << 24;

    private static final List<Augment> PIPELINES = List.of(
            Augment.images().randomResizedCrop(ROWS, COLUMNS).horizontalFlip(0.5),
            Augment.images().horizontalFlip(1).randomResizedCrop(ROWS, COLUMNS),
            Augment.images().resize(ROWS).centerCrop(ROWS, COLUMNS),
            Augment.images().resize(ROWS, COLUMNS, ResizeFilter.BOX).horizontalFlip(0.5),
            Augment.images().resize(ROWS + 9, COLUMNS + 3, ResizeFilter.BICUBIC).randomCrop(ROWS, COLUMNS));

    @TempDir
    private Path folder;

    /** A row that a worker writes for a device, or, with no memory, the pixels that it makes itself. */
    private static MemorySegment made(Arena arena, Augment augment, byte[] file, int position, long memory)
            throws IOException {
        AugmentMap map = augment.over(new TensorSpec("jpg", DType.U8, TensorSpec.VARIABLE)).toFiles(memory);
        MemorySegment out = arena.allocate(memory > 0 ? ROW_BYTES : PIXEL_BYTES).fill((byte) 77);
        var random = new KeyedRandom(7, 0);
        random.select(position, 0);
        try (SampleMap.Mapper worker = map.open().orElseThrow()) {
            worker.map(arena.allocateFrom(ValueLayout.JAVA_BYTE, file), 0, file.length, random, out, 0, out.byteSize(),
                    PartClock.NONE);
        }
        return out;
    }

    private static boolean isFile(MemorySegment row) {
        return FramedFile.fileBytes(row, 0) > 0;
    }

    @Test
    void kernelsAndTheirTwinMakeOfDecodedImagesWhatWorkersMakeOfTheFiles() throws Exception {
        List<byte[]> files = Oracle.files("noise_420.jpg", "noise_422_progressive.jpg", "gray_progressive.jpg",
                "orientation_6.jpg", "sampled_411.jpg", "sampled_440.jpg", "type6_8bit.png");
        try (Arena arena = Arena.ofShared(); NativeLab lab = new NativeLab(NativeLab.compile(folder), 3)) {
            for (Augment augment : PIPELINES) {
                MemorySegment rows = arena.allocate((long) files.size() * ROW_BYTES, 256);
                MemorySegment scratch = arena.allocate(MEMORY, 256);
                MemorySegment places = arena.allocate(ValueLayout.JAVA_LONG, 2L * files.size());
                byte[] expected = new byte[files.size() * PIXEL_BYTES];
                long at = 0;
                for (int i = 0; i < files.size(); i++) {
                    MemorySegment row = made(arena, augment, files.get(i), i, MEMORY);
                    MemorySegment.copy(row, 0, rows, (long) i * ROW_BYTES, ROW_BYTES);
                    assertEquals(i < files.size() - 1, isFile(row));
                    made(arena, augment, files.get(i), i, 0).asByteBuffer().get(expected, i * PIXEL_BYTES, PIXEL_BYTES);
                    if (isFile(row)) {
                        places.setAtIndex(ValueLayout.JAVA_LONG, 2L * i, at);
                        decode(arena, files.get(i), scratch, at);
                        at += FramedFile.imageBytes(row, 0) + 3 & -4;
                        places.setAtIndex(ValueLayout.JAVA_LONG, 2L * i + 1, at);
                        at += FramedFile.weightBytes(row, 0, ROWS, COLUMNS);
                    }
                }
                places.setAtIndex(ValueLayout.JAVA_LONG, 2, -1);                // the second image is damaged
                Arrays.fill(expected, PIXEL_BYTES, 2 * PIXEL_BYTES, (byte) 0);
                for (boolean isNative : new boolean[] {true, false}) {
                    MemorySegment target = arena.allocate(expected.length).fill((byte) 99);
                    MemorySegment decoded = arena.allocate(files.size()).fill((byte) 99);
                    MemorySegment arguments = arguments(rows, places, scratch, files.size(), target, decoded);
                    for (Kernel kernel : List.of(FramedImages.WEIGH, FramedImages.RESULTS)) {
                        if (isNative) {
                            lab.stream().launch(kernel, 5, arguments);
                        } else {
                            kernel.twin().run(arguments);
                        }
                    }
                    assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE), augment + ", " + isNative);
                    assertArrayEquals(new byte[] {1, 0, 1, 1, 1, 1, 1}, decoded.toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
    }

    private static void decode(Arena arena, byte[] file, MemorySegment to, long at) throws IOException {
        try (var reader = new ImageReader()) {
            reader.read(arena.allocateFrom(ValueLayout.JAVA_BYTE, file), file.length);
            reader.decode(PixelFormat.RGB, 1, to, at);
        }
    }

    private static MemorySegment arguments(MemorySegment rows, MemorySegment places, MemorySegment scratch, int count,
            MemorySegment target, MemorySegment decoded) {
        MemorySegment arguments = FramedImages.RESULTS.newArguments();
        List<String> names = List.of("rows", "row_bytes", "places", "scratch", "first", "count", "height", "width",
                "target", "decoded");
        long[] values = {rows.address(), ROW_BYTES, places.address(), scratch.address(), 0, count, ROWS, COLUMNS,
            target.address(), decoded.address()};
        for (int i = 0; i < values.length; i++) {
            Word.of(FramedImages.RESULTS.layout(), names.get(i)).set(arguments, values[i]);
        }
        return arguments;
    }

    @Test
    void whatADeviceMightNotDecodeTravelsAsTheWorkersPixels() throws IOException {
        Augment augment = Augment.images().randomResizedCrop(ROWS, COLUMNS);
        try (Arena arena = Arena.ofShared()) {
            for (String name : List.of("ycck.jpg", "adobe_rgb.jpg", "sampled_410.jpg", "chroma_finer_than_luma.jpg",
                    "type3_4bit_adam7.png", "type0_16bit.png")) {
                assertTravelsAsPixels(arena, augment, Oracle.bytes(name), MEMORY);
            }
            byte[] image = Oracle.bytes("noise_420.jpg");
            assertTrue(isFile(made(arena, augment, image, 0, MEMORY)));
            assertTravelsAsPixels(arena, augment, image, 100);                  // there is no memory for the image
            byte[] trailing = Arrays.copyOf(image, image.length + 2);
            assertTravelsAsPixels(arena, augment, trailing, MEMORY);
            byte[] large = Arrays.copyOf(image, ROW_BYTES - 63);      // one byte too large
            large[large.length - 2] = (byte) 0xFF;
            large[large.length - 1] = (byte) 0xD9;
            assertTravelsAsPixels(arena, augment, large, MEMORY);
            Augment upright = augment.decoding(ImageDecoding.rgb().upright());
            assertTrue(isFile(made(arena, augment, Oracle.bytes("orientation_6.jpg"), 0, MEMORY)));
            assertTravelsAsPixels(arena, upright, Oracle.bytes("orientation_6.jpg"), MEMORY);
        }
    }

    private static void assertTravelsAsPixels(Arena arena, Augment augment, byte[] file, long memory)
            throws IOException {
        byte[] expected = new byte[ROW_BYTES];
        made(arena, augment, file, 0, 0).asByteBuffer().get(expected, FramedFile.HEADER_BYTES, PIXEL_BYTES);
        assertArrayEquals(expected, made(arena, augment, file, 0, memory).toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void writingRowsOfFilesAllocatesNothingOnceItIsWarm() throws IOException {
        byte[] file = Oracle.bytes("noise_420.jpg");
        try (Arena arena = Arena.ofShared()) {
            AugmentMap map = PIPELINES.getFirst().over(new TensorSpec("jpg", DType.U8, TensorSpec.VARIABLE))
                    .toFiles(MEMORY);
            MemorySegment in = arena.allocateFrom(ValueLayout.JAVA_BYTE, file);
            MemorySegment out = arena.allocate(ROW_BYTES);
            var random = new KeyedRandom(7, 0);
            try (SampleMap.Mapper worker = map.open().orElseThrow()) {
                assertEquals(0, HeapUse.fewest(0, () -> {
                    for (int position = 0; position < 100; position++) {
                        random.select(position, 0);
                        try {
                            worker.map(in, 0, file.length, random, out, 0, ROW_BYTES, PartClock.NONE);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }
                }));
            }
        }
    }

    @Test
    void aRowDoesNotDependOnTheImagesBefore() throws IOException {
        Augment augment = Augment.images().resize(109, 150, ResizeFilter.BICUBIC);      // the size of the second image
        try (Arena arena = Arena.ofShared()) {
            AugmentMap map = augment.over(new TensorSpec("jpg", DType.U8, TensorSpec.VARIABLE)).toFiles(MEMORY);
            MemorySegment row = arena.allocate(ROW_BYTES);
            try (SampleMap.Mapper worker = map.open().orElseThrow()) {
                for (String name : List.of("restarts_420.jpg", "noise_420.jpg")) {
                    byte[] file = Oracle.bytes(name);
                    worker.map(arena.allocateFrom(ValueLayout.JAVA_BYTE, file), 0, file.length, new KeyedRandom(7, 0),
                            row, 0, ROW_BYTES, PartClock.NONE);
                }
            }
            assertArrayEquals(
                    made(arena, augment, Oracle.bytes("noise_420.jpg"), 0, MEMORY).toArray(ValueLayout.JAVA_BYTE),
                    row.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void aRowHasTheFileBehindItsFrameAndNothingElse() throws IOException {
        byte[] file = Oracle.bytes("noise_420.jpg");
        try (Arena arena = Arena.ofShared()) {
            MemorySegment row = made(arena, Augment.images().randomResizedCrop(ROWS, COLUMNS), file, 0, MEMORY);
            assertEquals(file.length, FramedFile.fileBytes(row, 0));
            MemorySegment rest = row.asSlice(FramedFile.HEADER_BYTES);
            assertArrayEquals(Arrays.copyOf(file, (int) rest.byteSize()),
                    rest.toArray(ValueLayout.JAVA_BYTE));
        }
    }
}
