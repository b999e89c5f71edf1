// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Edit;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Sampler.LaneState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A training run's position in its data: what the trainer has received on all ranks, not what was prefetched. It has a
 * constant size.
 *
 * <p>It is independent of workers, ranks and batch size: a run that resumes from it starts at {@code position} of
 * {@code epoch} with its own settings. Only what decides the order must agree: the dataset and the sampler. A stream
 * has no index, so its state also says where to continue, in some 50 bytes more per partition.
 *
 * @param epoch the epoch, from 0
 * @param position how many positions of the epoch the trainer has received, less than the epoch's size: the end of an
 *     epoch is position 0 of the next
 * @param seed the sampler's seed
 * @param sampler the sampler's fingerprint
 * @param dataset the dataset's fingerprint; empty if none was set
 * @param lanes where each lane of a stream continues; empty for a dataset with an index
 * @param edits how the run was edited, in the order in which that was done; mostly empty
 * @param chain the digest of all that the run has delivered; empty unless the loader keeps a ledger
 */
public record LoaderState(long epoch, long position, long seed, String sampler, String dataset, List<LaneState> lanes,
        List<Edit> edits, String chain) {

    /** The version of the text form that {@link #toJson()} writes for a dataset with an index. */
    public static final long FORMAT_VERSION = 1;
    /** The version for a stream. */
    public static final long STREAM_VERSION = 2;
    /** The version for a run that was edited, or that keeps a ledger. */
    public static final long HISTORY_VERSION = 3;

    private static final String VERSION_KEY = "penstock_state";
    private static final String WHAT = "a loader state";

    /**
     * A larger file is no state: a wrong path must not load a whole corpus into memory. The largest states are those of
     * streams: up to 64 bytes and 8 bytes of log per partition, and of live ones 40 KB of log per lane.
     */
    static final long MAX_FILE_BYTES = 64 << 20;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if the epoch is negative or above 2^62, or the position is negative, 2^62 or
     *     more
     */
    public LoaderState {
        Objects.requireNonNull(sampler, "sampler");
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(chain, "chain");
        lanes = List.copyOf(lanes);
        edits = List.copyOf(edits);
        if (epoch < 0 || epoch > Sampler.MAX_SIZE) {
            throw new IllegalArgumentException("epoch " + epoch + ", expected 0 to 2^62");
        }
        if (position < 0 || position >= Sampler.MAX_SIZE) {
            throw new IllegalArgumentException("position " + position + ", expected 0 to 2^62 - 1");
        }
    }

    /**
     * The state of a run over a dataset with an index.
     *
     * @param epoch the epoch, from 0
     * @param position how many positions of the epoch the trainer has received
     * @param seed the sampler's seed
     * @param sampler the sampler's fingerprint
     * @param dataset the dataset's fingerprint; empty if none was set
     * @throws IllegalArgumentException if a number is out of range
     */
    public LoaderState(long epoch, long position, long seed, String sampler, String dataset) {
        this(epoch, position, seed, sampler, dataset, List.of());
    }

    /**
     * The state of a run that was not edited.
     *
     * @param epoch the epoch, from 0
     * @param position how many positions of the epoch the trainer has received
     * @param seed the sampler's seed
     * @param sampler the sampler's fingerprint
     * @param dataset the dataset's fingerprint; empty if none was set
     * @param lanes where each lane of a stream continues; empty for a dataset with an index
     * @throws IllegalArgumentException if a number is out of range
     */
    public LoaderState(long epoch, long position, long seed, String sampler, String dataset, List<LaneState> lanes) {
        this(epoch, position, seed, sampler, dataset, lanes, List.of(), "");
    }

    /**
     * {@return the state before the first batch of a run}
     *
     * @param batches the run's batches, of any rank
     */
    public static LoaderState before(BatchSampler batches) {
        return new LoaderState(batches.startEpoch(), batches.startPosition(), batches.sampler().seed(),
                batches.sampler().fingerprint(), batches.dataset(), batches.startLanes(), batches.edits(),
                batches.startChain());
    }

    /**
     * The state after every rank received a batch. It is the same on every rank.
     *
     * @param batches the run's batches, of any rank
     * @param number the batch's number in the run, from 0
     * @return the start of the next run; after the last batch of an epoch, position 0 of the next epoch
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public static LoaderState after(BatchSampler batches, long number) {
        long position = batches.positionAfter(number);
        return at(batches, position == 0 ? batches.epochOf(number) + 1 : batches.epochOf(number), position);
    }

    /**
     * The state after a batch within which a stream has ended.
     *
     * @param batches the run's batches, of any rank
     * @param number the batch's number in the run, from 0
     * @param there how many samples exist from the batch's first position on, over all ranks
     * @return the state after those that the ranks received
     */
    public static LoaderState after(BatchSampler batches, long number, long there) {
        return at(batches, batches.epochOf(number), batches.positionAfter(number, there));
    }

    private static LoaderState at(BatchSampler batches, long epoch, long position) {
        return new LoaderState(epoch, position, batches.sampler().seed(), batches.sampler().fingerprint(),
                batches.dataset(), List.of(), batches.edits(), "");
    }

    /**
     * {@return this state with the digest of what was delivered}
     *
     * @param digest 32 hexadecimal digits; empty for none
     */
    public LoaderState withChain(String digest) {
        return new LoaderState(epoch, position, seed, sampler, dataset, lanes, edits, digest);
    }

    /**
     * {@return this state for a mixture to which sources were added at the end, with weight 0} An edit gives them
     * weight: {@link StateEdit#weights}.
     *
     * @param run batches of the mixture with the added sources, of a dataset with their samples at the end
     * @throws StateMismatchException if the state belongs to another mixture
     */
    public LoaderState extended(BatchSampler run) {
        BatchSampler edited = run.edited(edits);
        if (!isExtended(dataset, run.dataset()) || !edited.extendsMixture(sampler)) {
            throw new StateMismatchException(differences(before(edited)));
        }
        return new LoaderState(epoch, position, seed, edited.sampler().fingerprint(), run.dataset(), lanes, edits,
                chain);
    }

    /**
     * {@return edits of the run that this is a state of}
     *
     * @param run batches of the same dataset and order, from where steps are counted
     * @throws StateMismatchException if this state belongs to another dataset or order
     */
    public StateEdit edit(BatchSampler run) {
        return new StateEdit(this, run);
    }

    /**
     * The batches after this state, which may come from a run with other ranks, workers, batch size or budget.
     *
     * @param batches batches of the same dataset and order; where they start does not matter
     * @return a batch sampler whose batch 0 starts with the next sample
     * @throws StateMismatchException if this state belongs to another dataset or order, or its position does not exist
     *     there
     */
    public BatchSampler resume(BatchSampler batches) {
        List<String> differences = new ArrayList<>();
        BatchSampler run = batches;
        try {
            run = batches.edited(edits);
        } catch (IllegalArgumentException e) {
            differences.add("edits: " + e.getMessage());
        }
        differences.addAll(differences(before(run)));
        long epochs = run.sampler().epochs();
        long size = run.sampler().size();
        if (epoch >= epochs) {
            differences.add("epoch: the state has " + epoch + ", this run has epochs 0 to " + (epochs - 1));
        }
        if (position >= size && edits.isEmpty()) {
            differences.add("position: the state has " + position + ", this run has positions 0 to " + (size - 1));
        }
        if (!differences.isEmpty()) {
            throw new StateMismatchException(differences);
        }
        try {
            return run.startingAt(epoch, position, lanes).withChain(chain);
        } catch (IllegalArgumentException e) {
            throw new StateMismatchException(List.of(e.getMessage()));
        }
    }

    /** Whether a dataset has the samples of another one, and more behind them. */
    private static boolean isExtended(String before, String now) {
        String start = "concatenated:[";
        return now.startsWith(start + before + "][") || before.startsWith(start)
                && now.startsWith(before.substring(0, before.length() - 1) + "][");
    }

    /**
     * Joins the states of the ranks of a run over a stream of several lanes. Each rank reads some of the lanes, and
     * knows only those.
     *
     * @param ranks the states of all ranks after the same step
     * @return the state to save
     * @throws IllegalArgumentException if they are states of different steps or runs
     */
    public static LoaderState join(List<LoaderState> ranks) {
        LoaderState first = ranks.getFirst();
        Map<Integer, LaneState> lanes = new TreeMap<>();
        for (LoaderState rank : ranks) {
            if (rank.epoch != first.epoch || rank.position != first.position || !first.differences(rank).isEmpty()) {
                throw new IllegalArgumentException("found states " + first + " and " + rank
                        + ", expected those of one step");
            }
            rank.lanes.forEach(lane -> lanes.put(lane.lane(), lane));
        }
        return new LoaderState(first.epoch, first.position, first.seed, first.sampler, first.dataset,
                List.copyOf(lanes.values()), first.edits, first.chain);
    }

    /**
     * {@return one line of JSON, such as
     * {@code {"penstock_state":1,"epoch":0,"position":96,"seed":42,"sampler":"…","dataset":"…"}}; a stream's state
     * is version 2 and also has its lanes; that of a run with edits or a ledger is version 3}
     */
    public String toJson() {
        long version = !edits.isEmpty() || !chain.isEmpty() ? HISTORY_VERSION
                : lanes.isEmpty() ? FORMAT_VERSION : STREAM_VERSION;
        Map<String, @Nullable Object> fields = Json.members(VERSION_KEY, version, "epoch", epoch, "position", position,
                "seed", seed, "sampler", sampler, "dataset", dataset);
        if (!lanes.isEmpty()) {
            fields.put("lanes", lanes.stream().map(LoaderState::fields).toList());
        }
        if (!edits.isEmpty()) {
            fields.put("edits", EditText.fields(edits));
        }
        if (!chain.isEmpty()) {
            fields.put("chain", chain);
        }
        return Json.write(fields);
    }

    private static Map<String, @Nullable Object> fields(LaneState lane) {
        Map<String, @Nullable Object> fields = Json.members("lane", (long) lane.lane());
        if (lane.place() != LaneState.BY_POSITION) {
            fields.put("place", lane.place());
            fields.put("after", (long) lane.after());
        }
        fields.put("from", lane.from());
        fields.put("turn", (long) lane.turn());
        fields.put("cursors", lane.cursors());
        if (!lane.log().isEmpty()) {
            fields.put("log", lane.log());
        }
        return fields;
    }

    /**
     * Reads the text form back.
     *
     * @param json what {@link #toJson()} wrote
     * @return the state
     * @throws IllegalArgumentException if the text is not a state of this version; the message says where and why
     */
    public static LoaderState fromJson(CharSequence json) {
        return of(JsonFields.parse(json, WHAT));
    }

    static LoaderState of(JsonFields fields) {
        long version = fields.whole(VERSION_KEY, FORMAT_VERSION, HISTORY_VERSION);
        LoaderState state = new LoaderState(fields.whole("epoch"), fields.whole("position"), fields.whole("seed"),
                fields.text("sampler"), fields.text("dataset"),
                version == STREAM_VERSION || version == HISTORY_VERSION && fields.has("lanes")
                        ? fields.objects("lanes").stream().map(LoaderState::lane).toList() : List.of(),
                version == HISTORY_VERSION && fields.has("edits") ? EditText.edits(fields) : List.of(),
                version == HISTORY_VERSION ? chain(fields) : "");
        if (version == HISTORY_VERSION && state.edits.isEmpty() && state.chain.isEmpty()) {
            throw fields.wrong("edits", "nothing", "edits, a chain, or version 1 or 2");
        }
        fields.end();
        return state;
    }

    private static String chain(JsonFields fields) {
        String chain = Objects.requireNonNullElse(fields.textIfThere("chain"), "");
        if (!chain.isEmpty() && !chain.matches("[0-9a-f]{32}")) {
            throw fields.wrong("chain", chain, "32 hexadecimal digits");
        }
        return chain;
    }

    private static LaneState lane(JsonFields fields) {
        boolean isPlaced = fields.has("place") || fields.has("after");
        LaneState lane = new LaneState((int) fields.whole("lane", 0, Integer.MAX_VALUE),
                isPlaced ? fields.whole("place", 0, Sampler.MAX_SIZE) : LaneState.BY_POSITION,
                isPlaced ? (int) fields.whole("after", 0, Integer.MAX_VALUE) : 0,
                fields.whole("from", 0, Sampler.MAX_SIZE), (int) fields.whole("turn", 0, Integer.MAX_VALUE),
                fields.texts("cursors"), Objects.requireNonNullElse(fields.textIfThere("log"), ""));
        fields.end();
        return lane;
    }

    /**
     * Writes the text form to a file atomically: a reader, or a run restarted after a crash at any moment, sees the old
     * state or the new one.
     *
     * @param file the file to create or replace
     * @throws IOException if it cannot be written; the old file is then unchanged
     */
    public void write(Path file) throws IOException {
        AtomicFile.write(file, toJson() + "\n");
    }

    /**
     * Reads a state from a file.
     *
     * @param file what {@link #write} wrote
     * @return the state
     * @throws MalformedStoreException if the file does not hold a state of this version; names the file and the byte
     * @throws IOException if it cannot be read
     */
    public static LoaderState read(Path file) throws IOException {
        return read(Location.of(file));
    }

    /**
     * {@return the state in a file that may be remote}
     *
     * @param file what {@link #write} wrote
     * @throws IOException as {@link #read(Path)}
     */
    public static LoaderState read(Location file) throws IOException {
        return JsonFile.read(file, WHAT, MAX_FILE_BYTES, LoaderState::of);
    }

    /**
     * Lists the differences that keep a run with {@code other}'s dataset and sampler from resuming here, one line each.
     */
    List<String> differences(LoaderState other) {
        List<String> differences = new ArrayList<>();
        compare(differences, "dataset", dataset, other.dataset);
        compare(differences, "sampler", sampler, other.sampler);
        compare(differences, "seed", Long.toString(seed), Long.toString(other.seed));
        return differences;
    }

    private static void compare(List<String> differences, String what, String found, String expected) {
        if (!found.equals(expected)) {
            differences.add(what + ": the state has '" + found + "', this run has '" + expected + "'");
        }
    }
}
