// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.lake.TableSnapshot.Change;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table with versions. A run trains on one version; its state names it.
 *
 * {@snippet :
 * try (LakeStore rows = table.open(table.versionOf(state).orElse("")); Loader loader = …) {
 *     // goes on with the version that the state was saved with, whatever was added since
 * }
 * }
 */
public interface LakeTable {

    /** The newest version. */
    String NEWEST = "";

    /**
     * Reads which files a version has. No data are read.
     *
     * @param version a version as the format names them, {@code tag:NAME}, {@code branch:NAME}, a time such as
     *     {@code 2024-01-31T12:00:00Z} for the version that was the newest then, or {@link #NEWEST}
     * @return the version
     * @throws IOException if the table cannot be read
     * @throws IllegalArgumentException if it has no such version
     */
    TableSnapshot at(String version) throws IOException;

    /**
     * {@return the changes of the table, version by version}
     *
     * @throws IOException if the table cannot be read
     */
    ChangeLog changes() throws IOException;

    /** {@return what identifies the table in all its versions} */
    String id();

    /**
     * Says whether all changes between two versions only wrote rows anew in other files, as compactions do, or appended
     * rows. The table's log knows.
     *
     * @param from a version
     * @param to a later one
     * @return whether no row was deleted or replaced
     * @throws IOException if the log cannot be read, or no longer has these versions
     */
    boolean keepsRows(String from, String to) throws IOException;

    /**
     * Opens a version as a store.
     *
     * @param version as {@link #at} takes it
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #at}
     */
    default LakeStore open(String version) throws IOException {
        return new LakeStore(at(version));
    }

    /**
     * {@return the version of this table that a state was saved with; empty if it was not saved with this table}
     *
     * @param state the state
     */
    default Optional<String> versionOf(LoaderState state) {
        Matcher matcher = Pattern.compile("table=" + Pattern.quote(id()) + ":version=([^:]+):").matcher(
                state.dataset());
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /**
     * Lets a run go on with a newer version, to which rows were only appended: the next epoch has them. The order of
     * the other rows in the store does not change.
     *
     * @param saved the state of the run, at the start of an epoch
     * @param fresh the state before the first batch of a loader over the newer version
     * @return the state to resume that loader from
     * @throws IllegalArgumentException if the state is within an epoch, is not of this table, or rows were deleted,
     *     replaced or rewritten since; names the versions and says what happened between them
     * @throws IOException if a version cannot be read
     */
    default LoaderState goOn(LoaderState saved, LoaderState fresh) throws IOException {
        String from = versionOf(saved).orElseThrow(() -> new IllegalArgumentException("found a state of dataset '"
                + saved.dataset() + "', expected one of table " + id()));
        String to = versionOf(fresh).orElseThrow(() -> new IllegalArgumentException("found a loader over '"
                + fresh.dataset() + "', expected one over table " + id()));
        if (saved.position() != 0) {
            throw new IllegalArgumentException("found a state at position " + saved.position() + " of epoch "
                    + saved.epoch() + " at version " + from + ", expected one at the start of an epoch: finish it with"
                    + " that version, and take the newer one then");
        }
        TableSnapshot before = at(from);
        TableSnapshot now = at(to);
        Change change = now.since(before);
        if (change != Change.SAME && change != Change.APPENDED) {
            throw new IllegalArgumentException(before.table() + ": found version " + to + ", in which "
                    + (change == Change.REWRITTEN && keepsRows(from, to)
                    ? "files were rewritten (compaction): it has all rows of version " + from + " in another order"
                    : "rows of version " + from + " were deleted or replaced")
                    + ", expected one to which rows were only appended since; start a new run, or stay with version "
                    + from);
        }
        return new LoaderState(saved.epoch(), 0, fresh.seed(), fresh.sampler(), fresh.dataset());
    }
}
