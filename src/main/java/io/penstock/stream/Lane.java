// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.error.PenstockException;
import io.penstock.sampling.Sampler.LaneState;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Some partitions of a stream, merged by turns, and the windows of them that are in memory. One thread fills; the
 * others read complete windows. Everything that both touch is behind the lock of {@link StreamBuffer}, but for what is
 * complete: that is replaced and never changed.
 */
final class Lane implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Lane.class.getName());
    /** Records of the first window of an order that is not shuffled. */
    private static final int FIRST_RECORDS = 256;

    /** The least windows that the lane's part of the byte limit has room for, if they are not shuffled. */
    private static final long WINDOWS = 8;
    /** After this part of a window its memory grows to what all of it will take, instead of step by step. */
    private static final int EXPECT_AT = 8;

    private final int number;
    private final StreamOrder order;
    /** The lane's part of the byte limit, within which it reads ahead: the others may need the rest. */
    private final long aheadBytes;
    /** A window that is not shuffled ends with the record that exceeds this. */
    private final long windowBytes;
    private final List<PartitionReader> partitions = new ArrayList<>();
    private final Turns turns;
    private final TurnLog log;
    /** What follows the last complete window. */
    private volatile LaneState next;
    private @Nullable Window filling;
    /** Where the partitions continue behind the window that is complete and not published yet. */
    private List<String> behind = List.of();
    /** The log of that window. */
    private String logged = "";
    private volatile Window[] complete = {};
    /** Of their records. Changed behind the lock. */
    private volatile long completeBytes;
    private final Deque<Window> free = new ArrayDeque<>();
    /** Of the record that was taken last. Of the filling thread. */
    private long latestBytes;
    /** Records of a window that is not shuffled: few at first, so that no reader waits for many, then twice as many. */
    private int unshuffled = FIRST_RECORDS;
    private volatile boolean isOver;
    /** Whether the partition whose turn it is had nothing when it was asked last. */
    private volatile boolean isStarved;

    /** Opens the partitions. */
    Lane(StreamSource source, List<Integer> partitions, LaneState from, StreamOrder order, long aheadBytes)
            throws IOException {
        this.number = from.lane();
        this.order = order;
        this.aheadBytes = aheadBytes;
        this.windowBytes = aheadBytes / WINDOWS;
        this.log = new TurnLog(partitions.size(), from.log(), order.patienceNanos(), order.nanoTime());
        this.turns = new Turns(this.partitions, partitions.size(), from.turn(), log);
        this.next = from;
        try {
            for (int i = 0; i < partitions.size(); i++) {
                this.partitions.add(source.open(partitions.get(i), from.cursors().get(i)));
            }
            // The start of a partition has a cursor too: the source may forget the records that are there now.
            next = new LaneState(number, from.from(), from.turn(), cursors(), from.log());
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    private List<String> cursors() throws IOException {
        List<String> cursors = new ArrayList<>();
        for (PartitionReader partition : partitions) {
            partition.keep();
            cursors.add(partition.cursor());
        }
        return cursors;
    }

    int number() {
        return number;
    }

    /**
     * Begins a window unless there is one, or the readers have a whole window ahead, or the partitions have ended.
     * Behind the lock.
     *
     * @param wanted the end of the places that readers have asked for
     * @return whether there is a window to fill
     */
    boolean begin(long wanted) {
        if (filling == null && !isOver && next.from() < wanted + order.window()) {
            filling = free.isEmpty() ? new Window() : free.pop();
            filling.begin(next);
        }
        return filling != null;
    }

    boolean isStarved() {
        return isStarved;
    }

    /** What is known of the partitions. Of the filling thread. */
    List<PartitionReader.Lag> lags() {
        return partitions.stream().map(PartitionReader::lag).toList();
    }

    /**
     * Takes records until the window is full, there is none now, or there were so many records or bytes.
     *
     * @param mostBytes of the lane's records in memory; no record is taken behind the one that exceeds them
     * @param isNeeded whether readers have asked for records of the window; if not, it is read ahead
     * @param due how many records of the window a reader waits for; none does if it has all below 1
     * @return whether the window is complete, to be {@link #publish published}
     */
    boolean fill(int most, long mostBytes, boolean isNeeded, long due) throws IOException {
        boolean isComplete = take(most, isNeeded ? mostBytes : Math.min(mostBytes, aheadBytes), due);
        if (isComplete) {
            behind = cursors();
            try {
                logged = log.end(Objects.requireNonNull(filling).records,
                        partitions.stream().anyMatch(PartitionReader::hasMetEnd));
            } catch (IOException | PenstockException e) {
                throw new IOException("lane " + number + ", from record " + next.from() + " on: " + e.getMessage(), e);
            }
        }
        return isComplete;
    }

    /** Whether the window may end anywhere. */
    private boolean mayEnd() {
        return !order.isShuffled() && !log.isWritten();
    }

    private boolean isFull(RecordBuffer records) {
        int count = records.count();
        return count == order.window() || (count >= unshuffled || records.end() > windowBytes) && mayEnd();
    }

    private boolean take(int most, long mostBytes, long due) throws IOException {
        RecordBuffer records = Objects.requireNonNull(filling).records;
        for (int i = 0; i < most && !isFull(records) && bytes() <= mostBytes; i++) {
            switch (turns.next(records)) {
                case RECORD -> {
                    latestBytes = records.byteSize(records.count() - 1, RecordBuffer.WHOLE);
                    if (records.count() == order.window() / EXPECT_AT) {
                        records.expect(order.window());
                    }
                }
                case NOTHING_YET -> {
                    isStarved = true;
                    return due > 0 && records.count() >= due && mayEnd();
                }
                case END -> {
                    return true;
                }
            }
        }
        isStarved = false;
        return isFull(records);
    }

    int filled() {
        return filling == null ? 0 : filling.records.count();
    }

    /** Lets others read the window that is complete. Behind the lock. */
    void publish() {
        Window window = Objects.requireNonNull(filling);
        filling = null;
        isOver = window.records.count() < order.window() && log.haveEnded();
        if (window.records.count() == 0) {
            free.push(window);
            return;
        }
        if (order.isShuffled()) {
            window.shuffle(order.windowOrder(window.records.count(), window.from(), number));
        }
        window.log(logged);
        next = new LaneState(number, window.to(), turns.turn(), behind, log.atStart());
        Window[] more = Arrays.copyOf(complete, complete.length + 1);
        more[complete.length] = window;
        complete = more;
        completeBytes += window.records.end();
        unshuffled = (int) Math.min(2L * unshuffled, order.window());
    }

    /** The number of the first record that is not in a complete window. */
    long end() {
        return next.from();
    }

    /** Whether nothing follows {@link #end}. */
    boolean isOver() {
        return isOver;
    }

    /** Frees windows of which no record from a place on is. Behind the lock. */
    boolean release(long place) {
        int done = 0;
        Window[] held = complete;
        while (done < held.length && held[done].to() <= place) {
            completeBytes -= held[done].records.end();
            free.push(held[done++]);
        }
        if (done > 0) {
            complete = Arrays.copyOfRange(held, done, held.length);
        }
        return done > 0;
    }

    /** Where to read on so that a place comes next. Behind the lock. */
    LaneState state(long place) {
        return place >= next.from() ? next : windowOf(place).state(place);
    }

    /** The complete window that has a place. */
    Window windowOf(long place) {
        Window[] held = complete;
        int low = 0;
        int high = held.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (place < held[middle].from()) {
                high = middle - 1;
            } else if (place >= held[middle].to()) {
                low = middle + 1;
            } else {
                return held[middle];
            }
        }
        throw new IllegalStateException("record " + place + " of lane " + number + " is not in memory: "
                + (held.length == 0 ? "nothing is" : "found " + held[0].from() + " to " + held[held.length - 1].to()));
    }

    /** Bytes of records in memory. Of the filling thread. */
    long bytes() {
        return completeBytes + (filling == null ? 0 : filling.records.end());
    }

    /** Without the record that was taken last, which may exceed what a lane may have. Of the filling thread. */
    long bytesBeforeLatest() {
        return Math.max(0, bytes() - latestBytes);
    }

    /** Closes the partitions, as far as they let it, and frees the windows. */
    @Override
    public void close() {
        for (PartitionReader partition : partitions) {
            try {
                partition.close();
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "a partition of lane " + number + " cannot be closed", e);
            }
        }
        free.forEach(Window::close);
        free.clear();
        for (Window window : complete) {
            window.close();
        }
        complete = new Window[0];
        if (filling != null) {
            filling.close();
            filling = null;
        }
    }
}
