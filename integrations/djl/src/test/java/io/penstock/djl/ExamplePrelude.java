// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.store.TokenStore;
import java.nio.file.Path;

/** Names that the examples use without declaring them, see {@link ExamplesTest}. Nothing here is ever run. */
class ExamplePrelude {

    Path path;
    Path folder;
    TokenStore store;
    DataLoader loader;
    DataLoader validation;
    DataLoaderBuilder settings;
    io.penstock.dataset.Dataset images;
    io.penstock.dataset.Dataset samples;
    PenstockDataset training;
    Model model;
    TrainingConfig config;
    Trainer trainer;
    NDManager manager;
    int epochs;
    long step;

    boolean isTimeToSave(long step) {
        return step > 0;
    }
}
