// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.remote.RemoteFiles;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A file with a run's position, which the next run continues from. */
final class StateOption {

    @Option(names = "--state", paramLabel = "FILE",
            description = "Resume from FILE if it exists, overriding --epoch and --skip; save the new state there at"
                    + " the end, also of a source that fails; also s3://BUCKET/KEY.")
    private @Nullable String file;
    private boolean isResumed;

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
        isResumed = location.exists();
        return isResumed ? LoaderState.read(location).resume(batches) : batches;
    }

    /** Whether the run continues one that a file tells of, wherever other options would start it. */
    boolean isResumed() {
        return isResumed;
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

    /**
     * Saves the state of a run that fails, so that what was given counts: unless the batch that could not be made is
     * what failed, which the state is behind.
     */
    void saveAfter(Throwable failure, DataLoader loader, RemoteOptions remote) {
        if (file == null || failure instanceof BatchException) {
            return;
        }
        try {
            save(loader.state(), remote);
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** That it was saved, as text. */
    String text(LoaderState state) {
        return file == null ? "" : "Saved to " + file + ": epoch " + state.epoch() + ", position " + state.position()
                + ".\n";
    }
}
