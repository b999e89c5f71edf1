// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.device.Device;
import io.penstock.image.Range;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.memory.DType;
import io.penstock.pictures.Pictures;
import io.penstock.state.LoaderState;
import io.penstock.store.RecordStore;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** JPEG files from tars as {@code image}, {@code f32 [B, 3, side, side]}, and {@code label}, {@code i64 [B]}. */
final class Input implements AutoCloseable {

    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    private final RecordStore training;
    private final RecordStore validation;
    private final int side;
    private final int batchSize;
    private final int workers;

    private Input(RecordStore training, RecordStore validation, int side, int batchSize, int workers) {
        this.training = training;
        this.validation = validation;
        this.side = side;
        this.batchSize = batchSize;
        this.workers = workers;
    }

    /** Opens the tars in {@code folder/train} and {@code folder/validation}. */
    static Input open(Path folder, int side, int batchSize, int workers) throws IOException {
        RecordStore training = RecordStore.open(folder.resolve("train"));
        try {
            return new Input(training, RecordStore.open(folder.resolve("validation")), side, batchSize, workers);
        } catch (IOException | RuntimeException e) {
            training.close();
            throw e;
        }
    }

    /** Crops of half of the picture or more, flipped in half of the cases; another order and others in each epoch. */
    DataLoader training(long seed, @Nullable LoaderState state, Device device) {
        Augment steps = Augment.images().randomResizedCrop(side, side, Range.of(0.5, 1), Range.of(0.75, 4.0 / 3))
                .horizontalFlip(0.5);
        DataLoaderBuilder loader = DataLoader.builder(forNet(steps, training)).batchSize(batchSize).shuffle(seed)
                .workers(workers).leases(LeaseMode.REUSED).name("training").device(device);
        return (state == null ? loader : loader.resume(state)).open();
    }

    /** The whole picture's middle, each once an epoch: the last batch is smaller. */
    DataLoader validation(Device device) {
        Augment steps = Augment.images().resize(side).centerCrop(side, side);
        return DataLoader.builder(forNet(steps, validation)).batchSize(batchSize).workers(workers)
                .leases(LeaseMode.REUSED).name("validation").role(Role.VALIDATION).device(device).open();
    }

    private static Dataset forNet(Augment steps, RecordStore store) {
        return steps.normalize(MEAN, DEVIATION).to(DType.F32, Layout.NCHW).mapped(Pictures.of(store), Pictures.IMAGE);
    }

    long pictures() {
        return training.size();
    }

    @Override
    public void close() {
        validation.close();
        training.close();
    }
}
