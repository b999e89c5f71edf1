// SPDX-License-Identifier: Apache-2.0
package io.penstock.pictures;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.Decoder;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.io.Span;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.pictures.PictureBuckets.Size;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.store.Column;
import io.penstock.testing.MemoryRecordStore;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/** Pictures of many sizes, in batches of one size each. */
class PictureBucketsTest {

    private static final int PICTURES = 41;
    private static final List<Size> SIZES = List.of(new Size(16, 24), new Size(24, 16), new Size(20, 20),
            new Size(40, 40));

    /** PNG files of sizes from 12 to 60 pixels, with texts of several lengths. */
    private static MemoryRecordStore store(int damaged) throws IOException {
        var random = new SplittableRandom(4);
        byte[][][] values = new byte[PICTURES][][];
        for (int i = 0; i < PICTURES; i++) {
            var image = new BufferedImage(random.nextInt(12, 60), random.nextInt(12, 60), BufferedImage.TYPE_INT_RGB);
            for (int y = 0; y < image.getHeight(); y++) {
                for (int x = 0; x < image.getWidth(); x++) {
                    image.setRGB(x, y, random.nextInt());
                }
            }
            var out = new ByteArrayOutputStream();
            ImageIO.write(image, "png", out);
            byte[] file = out.toByteArray();
            values[i] = new byte[][] {i == damaged ? Arrays.copyOf(file, 20) : file, new byte[1 + i % 5]};
        }
        return new MemoryRecordStore(List.of(Column.bytes("png", "png"), Column.text("txt", "")), values);
    }

    private static Dataset samples(MemoryRecordStore store, PictureBuckets buckets) {
        return RecordFields.of(store).and("png", buckets.decoder()).and("txt", Decoder.bytes());
    }

    /** What each rank gets, batch by batch: the samples, the shape and the bytes. */
    private static List<String> batches(Dataset samples, PictureBuckets buckets, int batchSize, int world, int workers,
            LoaderState from, TailPolicy rest) {
        List<String> all = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            var builder = DataLoader.builder(samples).batchSize(batchSize).workers(workers).endEpoch(2)
                    .shard(new Shard(rank, world, TailPolicy.EXACT)).onBadSample(BadSamplePolicy.SKIP)
                    .sampler(buckets.sampler((long) batchSize * world, rest, 3))
                    .collator(StackAndPad.fields().shaped("png", buckets));
            try (DataLoader loader = (from == null ? builder : builder.resume(from)).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        StringBuilder text = new StringBuilder(batch.epoch() + " "
                                + Arrays.toString(batch.tensor("png").shape()));
                        for (int row = 0; row < batch.valid(); row++) {
                            text.append(' ').append(batch.sample(row)).append(':').append(Arrays.hashCode(
                                    batch.tensor("png").row(row).segment().toArray(ValueLayout.JAVA_BYTE)));
                        }
                        all.add(text.toString());
                    }
                }
            }
        }
        return all;
    }

    @Test
    void eachBatchHasOneSizeAndThePixelsOfThatCrop() throws IOException {
        try (MemoryRecordStore store = store(-1)) {
            PictureBuckets buckets = PictureBuckets.of(store, "png", SIZES, ImageDecoding.rgb());
            assertEquals(PICTURES, Arrays.stream(buckets.counts()).sum());
            assertTrue(Arrays.stream(buckets.counts()).allMatch(count -> count > 1), () -> Arrays.toString(
                    buckets.counts()));
            var times = new TreeMap<Long, Integer>();
            try (DataLoader loader = DataLoader.builder(samples(store, buckets)).batchSize(4).endEpoch(1)
                    .sampler(buckets.sampler(4, TailPolicy.PAD, 3))
                    .collator(StackAndPad.fields().shaped("png", buckets)).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        assertEquals(4, batch.count());
                        for (int row = 0; row < 4; row++) {
                            long sample = batch.sample(row);
                            times.merge(sample, 1, Integer::sum);
                            Size size = SIZES.get(buckets.shapeOf(sample));
                            assertArrayEquals(new long[] {4, size.height(), size.width(), 3},
                                    batch.tensor("png").shape());
                            assertArrayEquals(covered(store, sample, size),
                                    batch.tensor("png").row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                            assertEquals(1 + sample % 5, batch.tensor("txt_lengths").segment()
                                    .get(ValueLayout.JAVA_INT_UNALIGNED, 4L * row));
                        }
                    }
                }
            }
            assertEquals(PICTURES, times.size());
        }
    }

    private static byte[] file(MemoryRecordStore store, long sample) {
        Span span = new Span();
        store.locate(sample, 0, span);
        return span.slice().toArray(ValueLayout.JAVA_BYTE);
    }

    /** The picture resized to cover a size, and the middle of it, by decoders for one size. */
    private static byte[] covered(MemoryRecordStore store, long sample, Size size) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(file(store, sample)));
        long width = image.getWidth();
        long height = image.getHeight();
        boolean isByWidth = size.width() * height >= size.height() * width;
        int rows = (int) (isByWidth ? size.width() * height / width : size.height());
        int columns = (int) (isByWidth ? size.width() : size.height() * width / height);
        Dataset one = RecordFields.of(store).and("png", ImageDecoder.of(ImageDecoding.rgb(),
                ImageFit.stretch(rows, columns))).select(sample);
        try (DataLoader loader = DataLoader.builder(one).batchSize(1).endEpoch(1).open(); Batch batch = loader.next()) {
            byte[] whole = batch.tensor("png").segment().toArray(ValueLayout.JAVA_BYTE);
            byte[] part = new byte[size.height() * size.width() * 3];
            int top = (int) Math.rint((rows - size.height()) / 2.0);
            int left = (int) Math.rint((columns - size.width()) / 2.0);
            for (int y = 0; y < size.height(); y++) {
                System.arraycopy(whole, ((top + y) * columns + left) * 3, part, y * size.width() * 3,
                        size.width() * 3);
            }
            return part;
        }
    }

    @Test
    void ranksWorkersAndAResumedRunGiveTheSameBatches() throws IOException {
        try (MemoryRecordStore store = store(-1)) {
            PictureBuckets buckets = PictureBuckets.of(store, "png", SIZES);
            Dataset samples = samples(store, buckets);
            for (TailPolicy rest : List.of(TailPolicy.PAD, TailPolicy.DROP)) {
                List<String> all = batches(samples, buckets, 2, 2, 1, null, rest);
                assertEquals(all, batches(samples, buckets, 2, 2, 3, null, rest));
                LoaderState state;
                try (DataLoader loader = DataLoader.builder(samples).batchSize(4).workers(1)
                        .sampler(buckets.sampler(4, rest, 3))
                        .collator(StackAndPad.fields().shaped("png", buckets)).open()) {
                    for (int i = 0; i < 3; i++) {
                        loader.next().close();
                    }
                    state = loader.state();
                }
                List<String> resumed = batches(samples, buckets, 2, 2, 1, state, rest);
                int half = all.size() / 2;
                assertEquals(all.subList(3, half), resumed.subList(0, half - 3), "rank 0");
                assertEquals(all.subList(half + 3, all.size()), resumed.subList(half - 3, resumed.size()), "rank 1");
            }
        }
    }

    @Test
    void aDamagedPictureIsSkippedWithoutAnotherShape() throws IOException {
        try (MemoryRecordStore store = store(7)) {
            PictureBuckets buckets = PictureBuckets.of(store, "png", SIZES);
            assertEquals(0, buckets.shapeOf(7));
            List<String> all = batches(samples(store, buckets), buckets, 4, 1, 1, null, TailPolicy.PAD);
            assertTrue(all.stream().noneMatch(text -> text.contains(" 7:")));
            for (int i = 0; i < PICTURES; i++) {
                String sample = " " + i + ":";
                assertEquals(i != 7, all.stream().anyMatch(text -> text.startsWith("0 ") && text.contains(sample)));
            }
        }
    }

    @Test
    void sizesThatAreComputedAreSdxlsAndPicturesGoToTheNearest() {
        List<Size> sizes = PictureBuckets.sizes(1 << 20, 64, 4);
        assertEquals(List.of(new Size(2048, 512), new Size(1792, 576), new Size(1600, 640)), sizes.subList(0, 3));
        assertTrue(sizes.contains(new Size(1024, 1024)));
        assertEquals(new Size(512, 2048), sizes.getLast());
        List<Size> both = new ArrayList<>(PictureBuckets.sizes(512 * 512, 64, 2));
        both.addAll(PictureBuckets.sizes(1 << 20, 64, 2));
        List<Size> pictures = List.of(new Size(2000, 2000), new Size(600, 600), new Size(1000, 1500),
                new Size(300, 300));
        PictureBuckets chosen = PictureBuckets.ofSizes(pictures, both, ImageDecoding.rgb());
        assertEquals(List.of(new Size(1024, 1024), new Size(512, 512), new Size(832, 1216), new Size(512, 512)),
                List.of(0, 1, 2, 3).stream().map(i -> both.get(chosen.shapeOf(i))).toList());
        assertThrows(IllegalArgumentException.class, () -> PictureBuckets.sizes(100, 64, 2));
    }

    @Test
    void anOrderThatMixesSizesAndAnotherDatasetAreRefused() throws IOException {
        try (MemoryRecordStore store = store(-1)) {
            PictureBuckets buckets = PictureBuckets.of(store, "png", SIZES);
            Dataset samples = samples(store, buckets);
            try (DataLoader loader = DataLoader.builder(samples).batchSize(16).workers(0)
                    .collator(StackAndPad.fields().shaped("png", buckets)).open()) {
                String message = String.valueOf(assertThrows(RuntimeException.class, loader::next));
                assertTrue(message.contains("another shape"), message);
            }
            assertThrows(IllegalArgumentException.class, () -> DataLoader.builder(samples.split(0.5, 1).train())
                    .batchSize(2).collator(StackAndPad.fields().shaped("png", buckets)).open());
        }
    }
}
