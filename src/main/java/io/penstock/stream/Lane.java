// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.sampling.LaneState;
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

    private final int number;
    private final StreamOrder order;
    private final List<PartitionReader> partitions = new ArrayList<>();
    private final boolean[] ended;
    private int turn;
    /** The turn behind the latest record, before any partition that had ended was passed over. */
    private int turnBehind;
    /** What follows the last complete window. */
    private volatile LaneState next;
    private @Nullable Window filling;
    private volatile Window[] complete = {};
    /** Of their records. Changed behind the lock. */
    private volatile long completeBytes;
    private final Deque<Window> free = new ArrayDeque<>();
    private volatile boolean isOver;
    private final long recordsAhead;

    /**
     * Opens the partitions.
     *
     * @param recordsAhead how many records may be in memory before another window is begun
     */
    Lane(StreamSource source, List<Integer> partitions, LaneState from, StreamOrder order, long recordsAhead)
            throws IOException {
        this.number = from.lane();
        this.order = order;
        this.ended = new boolean[partitions.size()];
        this.turn = from.turn();
        this.turnBehind = turn;
        this.next = from;
        this.recordsAhead = recordsAhead;
        try {
            for (int i = 0; i < partitions.size(); i++) {
                this.partitions.add(source.open(partitions.get(i), from.cursors().get(i)));
            }
            // The start of a partition has a cursor too: the source may forget the records that are there now.
            next = new LaneState(number, from.from(), turn, cursors());
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    private List<String> cursors() {
        return partitions.stream().map(PartitionReader::cursor).toList();
    }

    int number() {
        return number;
    }

    /** Whether another record can be taken: there is room, and the partitions have not ended. Of the filling thread. */
    boolean mayFill() {
        if (isOver) {
            return false;
        }
        Window[] held = complete;
        return filling != null || held.length == 0 || next.from() - held[0].from() < recordsAhead;
    }

    /**
     * Takes records until the window is full, the partition whose turn it is has none, or there were so many.
     *
     * @return whether the window is complete, to be {@link #publish published}
     */
    boolean fill(int most) throws IOException {
        Window window = filling;
        if (window == null) {
            window = free.isEmpty() ? new Window() : free.pop();
            window.begin(next);
            filling = window;
        }
        RecordBuffer records = window.records;
        for (int i = 0; i < most && records.count() < order.window(); i++) {
            if (areAll(ended)) {
                return true;
            }
            switch (ended[turn] ? PartitionReader.Found.END : partitions.get(turn).poll(records)) {
                case RECORD -> {
                    turn = (turn + 1) % ended.length;
                    turnBehind = turn;
                }
                case NOTHING_YET -> {
                    return !order.isShuffled() && records.count() > 0;
                }
                case END -> {
                    ended[turn] = true;
                    turn = (turn + 1) % ended.length;
                }
            }
        }
        return records.count() == order.window();
    }

    private static boolean areAll(boolean[] flags) {
        for (boolean flag : flags) {
            if (!flag) {
                return false;
            }
        }
        return true;
    }

    int filled() {
        return filling == null ? 0 : filling.records.count();
    }

    /** Lets others read the window that is complete. Behind the lock. */
    void publish() {
        Window window = Objects.requireNonNull(filling);
        filling = null;
        isOver = window.records.count() < order.window() && areAll(ended);
        if (window.records.count() == 0) {
            free.push(window);
            return;
        }
        if (order.isShuffled()) {
            window.shuffle(order.seed(), window.from() * order.lanes() + number);
        }
        next = new LaneState(number, window.to(), turnBehind, cursors());
        Window[] more = Arrays.copyOf(complete, complete.length + 1);
        more[complete.length] = window;
        complete = more;
        completeBytes += window.records.end();
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
        return place >= next.from() ? next : windowOf(place).start();
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
