// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.Arrivals.ArrivalWait;
import io.penstock.error.PenstockException;
import io.penstock.io.Span;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Sampler.LaneState;
import io.penstock.sampling.Shard;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The records of a stream that are in memory: a thread fills windows of each lane ahead of the readers, and frees those
 * that are released. All waiting is behind one lock.
 */
final class StreamBuffer implements Arrivals, AutoCloseable {

    /** Records that are taken from one lane before the next one has its turn. */
    private static final int AT_ONCE = 256;
    /** How often an idle source is asked, at first and after a while. */
    private static final long LEAST_IDLE_MILLIS = 1;
    private static final long MOST_IDLE_MILLIS = 16;
    /** How often a waiting reader looks whether it is over. */
    private static final long LOOK_MILLIS = 5;

    /** How often partitions are asked how far behind they are. */
    private static final long LAG_NANOS = 1_000_000_000;
    /** How long a source may take to return from a call that is interrupted. */
    private static final long PATIENCE_MILLIS = 10_000;
    private static final System.Logger LOG = System.getLogger(StreamBuffer.class.getName());

    private final StreamSource source;
    /** The names of the source's partitions, which it may make anew each time that it is asked. */
    private final List<String> partitions;
    private final String name;
    private final int windowSize;
    private final int lanes;
    private final long maxBytes;
    private final StreamOrder order;
    private final Object lock = new Object();
    /** By number; null for those that other ranks read. */
    private volatile @Nullable Lane[] byNumber = {};
    private volatile List<Lane> own = List.of();
    /** Which lane gives which place of the run. */
    private volatile LaneTurns turns;
    private @Nullable Thread filler;
    private @Nullable Throwable failure;
    private boolean isClosed;
    /** The end of the places that readers have asked for. */
    private long wanted;
    /** The end of the places that a reader waits for, of several readers the first one. */
    private long lackedTo = StreamOrder.ENDLESS;
    /** Whether readers have asked for more since the filling thread last paused. */
    private boolean isAsked;
    private boolean isPaused;
    /** Whether the lane that the latest reader lacks has nothing. */
    private boolean isStarved;
    private long emptyNanos;
    private long slowNanos;
    private long rereadRecords;
    private volatile Map<String, PartitionReader.Lag> lags = Map.of();

    StreamBuffer(StreamSource source, String name, int windowSize, int lanes, long epochRecords, @Nullable Long seed,
            long maxBytes, long patienceNanos, LongSupplier nanoTime) {
        this.source = source;
        this.partitions = List.copyOf(source.partitions());
        this.name = name;
        this.windowSize = windowSize;
        this.lanes = lanes;
        this.maxBytes = maxBytes;
        this.turns = new LaneTurns(0, 0, lanes, new long[lanes], _ -> null);
        this.order = new StreamOrder(windowSize, lanes, epochRecords, seed != null, seed == null ? 0 : seed,
                patienceNanos, nanoTime, source instanceof MixtureSource mixture ? mixture.weights() : List.of(),
                this::index);
    }

    @Override
    public Sampler order() {
        return order;
    }

    private Lane lane(int number) {
        @Nullable Lane[] known = byNumber;
        Lane lane = number < known.length ? known[number] : null;
        if (lane == null) {
            throw new IllegalStateException(name + ": lane " + number + " is not read here");
        }
        return lane;
    }

    /** The index of the record at a place that is in memory. */
    private long index(long place) {
        LaneTurns of = turns;
        int number = of.laneAt(place);
        long inLane = of.inLane(place);
        return lane(number).windowOf(inLane).recordAt(inLane) * lanes + number;
    }

    /** The window that has a record. */
    Window window(long index) {
        return lane((int) (index % lanes)).windowOf(index / lanes);
    }

    /** Where a record begins in the memory of its window. */
    long begin(Window window, long index) {
        return window.records.begin((int) (index / lanes - window.from()));
    }

    /** The bytes of a part of a record, or of all of it. */
    long byteSize(long index, int part) {
        Window window = window(index);
        return window.records.byteSize((int) (index / lanes - window.from()), part);
    }

    /** Locates a part of a record that is in memory, or all of it. */
    void locate(long index, int part, Span into) {
        Window window = window(index);
        int record = (int) (index / lanes - window.from());
        into.set(window.records.bytes(), window.records.begin(record, part), window.records.byteSize(record, part));
    }

    // ---- beginning

    @Override
    public void check(LoaderState from) {
        if (from.lanes().isEmpty() && order.place(from.epoch(), from.position()) != 0) {
            throw new IllegalArgumentException(name + ": found epoch " + from.epoch() + ", position " + from.position()
                    + ", expected the start or a saved state: a stream has no index");
        }
    }

    @Override
    public boolean areShared(Shard shard) {
        return LaneStarts.areShared(lanes, shard);
    }

    @Override
    public void begin(LoaderState from, Shard shard) {
        check(from);
        if (!from.edits().isEmpty() && !areShared(shard)) {
            throw new IllegalArgumentException(name + ": found edits of a stream of " + lanes + " lanes on "
                    + shard.worldSize() + " ranks, expected one lane, or one rank: ranks that read only their lanes"
                    + " cannot leave out the records of others");
        }
        StreamSource edited = source instanceof MixtureSource mixture ? mixture.reweighed(from.edits(), order) : source;
        long place = order.place(from.epoch(), from.position());
        var starts = new LaneStarts(name, lanes, windowSize, partitions.size(), from.lanes(), place);
        List<Integer> numbers = starts.lanesOf(shard, order.records() == StreamOrder.ENDLESS);
        stop();
        synchronized (lock) {
            if (isClosed) {
                throw new IllegalStateException(name + " is closed");
            }
            failure = null;
            wanted = place;
            lackedTo = StreamOrder.ENDLESS;
            rereadRecords = 0;
            List<Lane> opened = new ArrayList<>();
            @Nullable Lane[] all = new Lane[lanes];
            long[] places = new long[lanes];
            try {
                for (int number : numbers) {
                    LaneState at = starts.of(number);
                    places[number] = at.place();
                    rereadRecords += at.place() - at.from();
                    Lane lane = new Lane(edited, partitionsOf(number), at, order, maxBytes / numbers.size());
                    opened.add(lane);
                    all[number] = lane;
                }
            } catch (IOException e) {
                opened.forEach(Lane::close);
                throw new UncheckedIOException(e);
            } catch (Throwable t) {
                opened.forEach(Lane::close);
                throw t;
            }
            own = opened;
            byNumber = all;
            turns = new LaneTurns(place, starts.turn(), lanes, places, number -> all[number]);
            lags = lags();
            Thread thread = new Thread(this::fill, name + " stream");
            thread.setDaemon(true);
            filler = thread;
            ThreadStart.start(thread, "the stream's reader");
        }
    }

    private List<Integer> partitionsOf(int lane) {
        return LaneStarts.partitionsOf(lane, lanes, partitions.size());
    }

    // ---- filling, on a thread of its own

    private void fill() {
        long idle = LEAST_IDLE_MILLIS;
        long lookedAt = order.nanoTime().getAsLong();
        try {
            while (isCurrent()) {
                long now = order.nanoTime().getAsLong();
                if (now - lookedAt >= LAG_NANOS) {
                    lookedAt = now;
                    lags = lags();
                }
                boolean isIdle = true;
                for (Lane lane : own) {
                    isIdle &= !fill(lane);
                }
                idle = isIdle ? Math.min(2 * idle, MOST_IDLE_MILLIS) : LEAST_IDLE_MILLIS;
                if (isIdle) {
                    pause(idle);
                }
            }
        } catch (InterruptedException _) {
            // Told to stop.
        } catch (Throwable t) {
            synchronized (lock) {
                if (filler == Thread.currentThread()) {
                    failure = t;
                    lock.notifyAll();
                }
            }
        }
    }

    private Map<String, PartitionReader.Lag> lags() {
        Map<String, PartitionReader.Lag> found = new LinkedHashMap<>();
        for (Lane lane : own) {
            Iterator<Integer> partition = partitionsOf(lane.number()).iterator();
            lane.lags().forEach(lag -> found.put(partitions.get(partition.next()), lag));
        }
        return Collections.unmodifiableMap(found);
    }

    /** Where the time goes, as far as readers have waited. */
    StreamDataset.Status status() {
        synchronized (lock) {
            return new StreamDataset.Status(lags, rereadRecords, emptyNanos, slowNanos);
        }
    }

    private boolean isCurrent() {
        synchronized (lock) {
            return filler == Thread.currentThread();
        }
    }

    /** Waits until something is released, or for a while. */
    @SuppressWarnings("WaitNotInLoop") // the caller looks again, whatever the reason
    private void pause(long millis) throws InterruptedException {
        synchronized (lock) {
            if (filler == Thread.currentThread() && !isAsked) {
                isPaused = true;
                lock.wait(millis);
                isPaused = false;
            }
            isAsked = false;
        }
    }

    /** Whether records came. Reads ahead of the readers only within the byte limit. */
    private boolean fill(Lane lane) throws IOException {
        boolean isNeeded;
        long due;
        synchronized (lock) {
            long asked = turns.before(wanted, lane.number());
            isNeeded = asked > lane.end();
            due = turns.before(lackedTo, lane.number()) - lane.end();
            if (!lane.begin(asked)) {
                return false;
            }
        }
        int before = lane.filled();
        boolean isComplete = lane.fill(AT_ONCE, room(lane), isNeeded, due);
        int after = lane.filled();
        if (isNeeded && !isComplete && lane.bytes() > room(lane)) {
            throw new IOException(name + ": found " + bytes() + " bytes of records in memory, expected at most "
                    + maxBytes + ": use a smaller window (--shuffle-window), or in a program a greater maxBytes");
        }
        if (isComplete) {
            synchronized (lock) {
                lane.publish();
                turns.update();
                lock.notifyAll();
            }
        }
        return isComplete || after > before;
    }

    /** Bytes of records that a lane may have, and one more record. Of the filling thread. */
    private long room(Lane lane) {
        long room = maxBytes;
        for (Lane other : own) {
            room -= other == lane ? 0 : other.bytesBeforeLatest();
        }
        return room;
    }

    /** Bytes of records in memory. Of the filling thread. */
    private long bytes() {
        long bytes = 0;
        for (Lane lane : own) {
            bytes += lane.bytes();
        }
        return bytes;
    }

    // ---- reading

    @Override
    public long await(long epoch, long position, long count, BooleanSupplier isOver, ArrivalWait waited)
            throws InterruptedException {
        long place = order.place(epoch, position);
        synchronized (lock) {
            if (wanted < place + count) {
                wanted = place + count;
                isAsked = true;
                if (isPaused) {
                    lock.notifyAll();
                }
            }
            while (true) {
                check();
                long there = available(place, count);
                if (there >= 0) {
                    return there;
                }
                if (isOver.getAsBoolean()) {
                    return 0;
                }
                long begin = System.nanoTime();
                lock.wait(LOOK_MILLIS);
                waited(System.nanoTime() - begin, waited);
            }
        }
    }

    /** Counts a wait. Behind the lock. */
    private void waited(long nanos, ArrivalWait into) {
        if (isStarved) {
            into.emptyNanos += nanos;
            emptyNanos += nanos;
        } else {
            into.slowNanos += nanos;
            slowNanos += nanos;
        }
    }

    private void check() {
        if (isClosed) {
            throw new IllegalStateException(name + " is closed");
        }
        switch (failure) {
            case null -> { }
            case IOException e -> throw new UncheckedIOException(new IOException(e.getMessage(), e));
            case PenstockException e -> throw new UncheckedIOException(new IOException(e.getMessage(), e));
            case UncheckedIOException e -> throw new UncheckedIOException(new IOException(e.getMessage(), e));
            case Throwable t -> throw new IllegalStateException(name + ": the source failed: " + t, t);
        }
    }

    /** How many records from a place on exist; -1 if that is not known yet. */
    private long available(long place, long count) {
        long to = place + count;
        long end = turns.end();
        if (end >= to || turns.isOver()) {
            return Math.clamp(end - place, 0, count);
        }
        if (turns.isUnknown()) {
            throw new LaneEndException(name, turns.lackingLane(), end);
        }
        isStarved = turns.isStarved();
        if (to < lackedTo || end >= lackedTo) {
            lackedTo = to;
        }
        return -1;
    }

    @Override
    public void release(long epoch, long position) {
        long place = order.place(epoch, position);
        if (place <= 0) {
            return;
        }
        synchronized (lock) {
            boolean isFreed = false;
            for (Lane lane : own) {
                isFreed |= lane.release(turns.before(place, lane.number()));
            }
            turns.release(place);
            if (isFreed) {
                lock.notifyAll();
            }
        }
    }

    @Override
    public LoaderState complete(LoaderState state) {
        synchronized (lock) {
            long place = order.place(state.epoch(), state.position());
            if (turns.isOver()) {
                place = Math.min(place, turns.end());
            }
            List<LaneState> at = new ArrayList<>();
            for (Lane lane : own) {
                long inLane = turns.before(place, lane.number());
                LaneState window = lane.state(inLane);
                LaneState placed = window.at(inLane, Math.floorMod(lane.number() - turns.turnAt(place), lanes));
                at.add(placed.equals(LaneStarts.inTurn(window, lanes, place)) ? window : placed);
            }
            return new LoaderState(place / order.records(), place % order.records(), state.seed(), state.sampler(),
                    state.dataset(), at, state.edits(), state.chain());
        }
    }

    // ---- the end

    /** Ends the thread, and closes what it read. */
    private void stop() {
        Thread thread;
        List<Lane> lanesOfRun;
        synchronized (lock) {
            thread = filler;
            filler = null;
            lanesOfRun = own;
            own = List.of();
            byNumber = new Lane[0];
            lock.notifyAll();
        }
        if (thread == null || Uninterrupted.end(thread, PATIENCE_MILLIS)) {
            lanesOfRun.forEach(Lane::close);
        } else {
            LOG.log(System.Logger.Level.WARNING, "{0}: the source has not returned {1} ms after it was interrupted; its"
                    + " thread and its memory are kept", name, PATIENCE_MILLIS);
        }
    }

    /** Ends the thread, and frees the memory. */
    @Override
    public void close() {
        synchronized (lock) {
            isClosed = true;
        }
        stop();
    }
}
