// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.augment.Augment;
import io.penstock.collate.StackAndPad;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.TokenWindows;
import io.penstock.decode.Decoder;
import io.penstock.format.webdataset.ShardList;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.image.Interpolation;
import io.penstock.io.Location;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.sampling.Sampler;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.stream.StreamDataset;
import io.penstock.transform.ImageTransform;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a loader is measured on, and its settings. {@code bench/peers} has the same in Python.
 *
 * @param close closes what the settings read
 * @param settings dataset, order, batch size and collator
 */
record Workload(Runnable close, DataLoaderBuilder settings) {

    private static final int SEED = 1;
    private static final int WINDOW_TOKENS = 1024;
    private static final int WINDOW_BATCH = 32;
    private static final int CHANNELS = 3;
    private static final int IMAGE_BATCH = 64;
    private static final int SIDE = 224;
    private static final int SHORTER_SIDE = 256;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};
    private static final int DOCUMENT_BATCH = 32;
    /** Within a shard at a time: what a shuffle buffer of so many samples gives the library. */
    private static final int SHARD_WINDOW_SAMPLES = 1000;
    private static final int EMPTY_BATCH = 64;

    /** Opens the workload that {@code --workload} names, of {@code --store}; {@code --mode} says what batches hold. */
    static Workload open(Map<String, String> options) throws IOException {
        Path path = Path.of(options.get("store"));
        String mode = options.getOrDefault("mode", "i64");
        String name = options.getOrDefault("workload", "tokens");
        return switch (name) {
            case "tokens" -> tokens(path, mode);
            case "images" -> images(path, mode);
            case "pictures" -> pictures(path, mode);
            case "documents" -> documents(path, mode);
            case "webdataset" -> shards(path, mode);
            case "tar-stream" -> tars(path);
            case "empty" -> empty(path);
            default -> throw new IllegalArgumentException("--workload " + name);
        };
    }

    private static TokenWidth width(String mode) {
        return TokenWidth.of(mode.equals("narrow") ? "store" : mode);
    }

    /** Windows of 1024+1 tokens. */
    private static Workload tokens(Path path, String mode) throws IOException {
        TokenStore store = TokenStore.open(path, "nanogpt");
        return new Workload(store::close, DataLoader.builder(TokenWindows.of(store, WINDOW_TOKENS))
                .batchSize(WINDOW_BATCH).shuffle(SEED).collator(width(mode).windows()));
    }

    /** Images of bytes, stacked as they are or as normalized {@code f32}. */
    private static Workload images(Path path, String mode) throws IOException {
        TensorStore store = TensorStore.open(path);
        long size = store.tensors().getFirst().dim(3);
        Dataset images = TensorRows.of("image", store);
        if (mode.equals("f32")) {
            images = ImageTransform.of(ImageTransform.Layout.NCHW, CHANNELS, size, size)
                    .normalize(MEAN, DEVIATION)
                    .mapped(images, "image");
        }
        return new Workload(store::close, DataLoader.builder(images).batchSize(IMAGE_BATCH).shuffle(SEED));
    }

    /** JPEG files of a tar, cropped as {@code mode} says and normalized while they are decoded. */
    private static Workload pictures(Path path, String mode) throws IOException {
        WebDatasetStore store = WebDatasetStore.open(Location.of(path));
        Augment crop = mode.equals("eval") ? Augment.images().resize(SHORTER_SIDE).centerCrop(SIDE, SIDE)
                : Augment.images().randomResizedCrop(SIDE, SIDE).horizontalFlip(0.5);
        Augment augment = switch (mode) {
            case "rrc", "eval" -> crop;
            case "rrc-jitter" -> crop.colorJitter(0.4, 0.4, 0.4, 0.1);
            case "rrc-rotate" -> crop.rotate(30, Interpolation.BILINEAR, 0);
            case "rrc-randaugment" -> crop.randAugment();
            default -> throw new IllegalArgumentException("--mode " + mode);
        };
        Dataset pictures = augment.normalize(MEAN, DEVIATION).mapped(RecordFields.of(store).and("jpg"), "jpg");
        return new Workload(store::close, DataLoader.builder(pictures).batchSize(IMAGE_BATCH).shuffle(SEED));
    }

    /** Documents of different lengths, padded to the longest of the batch, with a mask. */
    private static Workload documents(Path path, String mode) throws IOException {
        TokenStore store = TokenStore.open(path, "megatron");
        return new Workload(store::close, DataLoader.builder(Documents.of(store)).batchSize(DOCUMENT_BATCH)
                .shuffle(SEED).collator(width(mode).padded(0)));
    }

    /** Samples of shards: shards shuffled and samples in windows of 1,000, or {@code full}, all shuffled. */
    private static Workload shards(Path path, String mode) throws IOException {
        WebDatasetStore store = WebDatasetStore.open(Location.of(path));
        Dataset samples = RecordFields.of(store).and("bin").and("cls", Decoder.decimal(DType.I64));
        return new Workload(store::close, DataLoader.builder(samples)
                .batchSize(WebDatasetShards.BATCH).collator(StackAndPad.fields())
                .sampler(mode.equals("full") ? Sampler.shuffled(store.size(), SEED)
                        : Sampler.blockShuffled(store.shardStarts(), SHARD_WINDOW_SAMPLES, SEED)));
    }

    /** Tar after tar from front to back, shuffled in windows of 1,000 samples: what the library does. */
    private static Workload tars(Path path) throws IOException {
        WebDatasetSource source = WebDatasetSource.of(ShardList.of(Location.of(path)), "bin", "cls").shuffled(SEED)
                .passes(Integer.MAX_VALUE);
        StreamDataset stream = StreamDataset.builder(source).field("bin", DType.U8, WebDatasetShards.SAMPLE_BYTES)
                .field("cls", Decoder.decimal(DType.I64), 0).shuffle(SEED, SHARD_WINDOW_SAMPLES).open();
        return new Workload(stream::close, DataLoader.builder(stream).batchSize(WebDatasetShards.BATCH));
    }

    /** Batches that nothing is written to: what is left is the loader's own. */
    private static Workload empty(Path path) throws IOException {
        TokenStore store = TokenStore.open(path, "nanogpt");
        return new Workload(store::close, DataLoader.builder(TokenWindows.of(store, WINDOW_TOKENS))
                .batchSize(EMPTY_BATCH).collator(new NoWork()));
    }
}
