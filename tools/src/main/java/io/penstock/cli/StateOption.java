// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.remote.RemoteFiles;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A file with a run's position, which the next run continues from. */
final class StateOption {

    @Option(names = "--state", paramLabel = "FILE",
            description = "Resume from FILE if it exists, overriding --epoch and --skip; save the new state there at"
                    + " the end, also of a source that fails; also s3://BUCKET/KEY.")
    private @Nullable String file;
    private boolean isResumed;

    @Option(names = "--ledger", paramLabel = "FOLDER",
            description = "Append what is delivered to this rank's ledger in FOLDER, for 'penstock audit'.")
    private @Nullable Path ledger;

    @Option(names = "--ledger-bytes",
            description = "With --ledger: also the checksum of the bytes of each batch.")
    private boolean ledgerBytes;

    @Mixin
    private EditOptions edits;

    void check() {
        if (file != null && !RemoteFiles.isRemote(file)) {
            UsageException.requireFile("--state", Path.of(file));
        }
    }

    /** The batches from where the file says, if there is one, with the edits. */
    BatchSampler resumed(BatchSampler batches, SampleSource source, RemoteOptions remote) throws IOException {
        LoaderState saved = saved(remote);
        isResumed = saved != null;
        if (!edits.isGiven()) {
            return saved == null ? batches : saved.resume(batches);
        }
        LoaderState from = saved == null ? LoaderState.before(batches) : saved;
        return edits.applied(from, batches, source).resume(batches);
    }

    private @Nullable LoaderState saved(RemoteOptions remote) throws IOException {
        if (file == null) {
            return null;
        }
        Location location = remote.locate(file);
        return location.exists() ? LoaderState.read(location) : null;
    }

    /** A loader that keeps the ledger, if there is one. */
    DataLoaderBuilder set(DataLoaderBuilder loader) {
        if (ledgerBytes && ledger == null) {
            throw new UsageException("--ledger-bytes: found without --ledger, expected both");
        }
        DataLoaderBuilder kept = ledger == null ? loader : loader.ledger(ledger);
        return ledgerBytes ? kept.ledgerOfBytes() : kept;
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
