// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.LoaderState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A file with a run's position, which the next run continues from. */
final class StateOption {

    @Option(names = "--state", paramLabel = "FILE",
            description = "Resume from FILE if it exists, overriding --epoch and --skip; save the new state there at"
                    + " the end.")
    private @Nullable Path file;

    void check() {
        UsageException.requireFolder("--state", file);
    }

    /** The batches from where the file says, if there is one. */
    BatchSampler resumed(BatchSampler batches) throws IOException {
        return file == null || !Files.exists(file) ? batches : batches.resume(LoaderState.read(file));
    }

    /** Saves a state, if the option was given. */
    void save(LoaderState state) throws IOException {
        if (file != null) {
            state.write(file);
        }
    }

    /** That it was saved, as text. */
    String text(LoaderState state) {
        return file == null ? "" : "Saved to " + file + ": epoch " + state.epoch() + ", position " + state.position()
                + ".\n";
    }
}
