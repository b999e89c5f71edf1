// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.io.remote.RemoteFiles;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.LoaderState;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A file with a run's position, which the next run continues from. */
final class StateOption {

    @Option(names = "--state", paramLabel = "FILE",
            description = "Resume from FILE if it exists, overriding --epoch and --skip; save the new state there at"
                    + " the end; also s3://BUCKET/KEY.")
    private @Nullable String file;

    void check() {
        if (file != null && !RemoteFiles.isRemote(file)) {
            UsageException.requireFolder("--state", Path.of(file));
        }
    }

    /** The batches from where the file says, if there is one. */
    BatchSampler resumed(BatchSampler batches, RemoteOptions remote) throws IOException {
        if (file == null) {
            return batches;
        }
        Location location = remote.locate(file);
        return location.exists() ? batches.resume(LoaderState.read(location)) : batches;
    }

    /** Saves a state, if the option was given. */
    void save(LoaderState state, RemoteOptions remote) throws IOException {
        if (file != null) {
            try (Target target = Target.of(file, remote, IfExists.REPLACE)) {
                state.write(target.path());
                target.publish(ProgressBar.hidden());
            }
        }
    }

    /** That it was saved, as text. */
    String text(LoaderState state) {
        return file == null ? "" : "Saved to " + file + ": epoch " + state.epoch() + ", position " + state.position()
                + ".\n";
    }
}
