// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * The JVM's garbage collection pauses, as its collectors report them: with millisecond resolution, and only
 * stop-the-world parts of a collection.
 */
final class GcPauses implements AutoCloseable {

    /** Several for each of the steps whose accounts are kept. */
    private static final int MOST = 8 * StepLog.STEPS;
    private static final long NANOS_A_MILLI = 1_000_000;
    /** Maximum delay of a collection's report. */
    private static final long REPORT_MILLIS = 200;

    private final List<NotificationEmitter> collectors = new ArrayList<>();
    /** Collections completed before this started to listen. */
    private final long collectedBefore;
    private final NotificationListener listener = (notification, _) -> collected(notification);
    /** By the collectors' clock, in milliseconds. Guarded by this. */
    private final Deque<Recording.Stretch> pauses = new ArrayDeque<>();
    /**
     * The {@link System#nanoTime} of the collectors' time 0, some milliseconds later than the JVM's uptime suggests. No
     * report precedes the end of its collection, and the fastest report follows it closely: so this is the minimum
     * seen. Guarded by this.
     */
    private long clockBegan = Long.MAX_VALUE;
    /** Guarded by this. */
    private long reported;

    GcPauses() {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (pauses(collector.getName()) && collector instanceof NotificationEmitter emitter) {
                emitter.addNotificationListener(listener, null, null);
                collectors.add(emitter);
            }
        }
        collectedBefore = collections();
    }

    private long collections() {
        return collectors.stream().mapToLong(collector -> ((GarbageCollectorMXBean) collector).getCollectionCount())
                .sum();
    }

    /** Concurrent collectors also report cycles, which are not pauses. */
    private static boolean pauses(String collector) {
        return !collector.contains("Cycles") && !collector.contains("Concurrent");
    }

    private void collected(Notification notification) {
        long now = System.nanoTime();
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            GcInfo info = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
                    .getGcInfo();
            add(new Recording.Stretch(info.getStartTime(), info.getEndTime()), now);
        }
    }

    /** Keeps a pause, by the collectors' clock; the oldest goes where there are too many. */
    synchronized void add(Recording.Stretch pauseMillis, long reportedAt) {
        if (pauses.size() == MOST) {
            pauses.removeFirst();
        }
        pauses.addLast(pauseMillis);
        clockBegan = Math.min(clockBegan, reportedAt - pauseMillis.endAt() * NANOS_A_MILLI);
        reported++;
        notifyAll();
    }

    /** The reports truncate to milliseconds, so the real times are half of one later on average. */
    private Recording.Stretch byNanoTime(Recording.Stretch millis) {
        long meant = clockBegan + NANOS_A_MILLI / 2;
        return new Recording.Stretch(meant + millis.beginAt() * NANOS_A_MILLI, meant + millis.endAt() * NANOS_A_MILLI);
    }

    /** A thread of the JVM reports collections some time after they end. Called with the lock held. */
    private void awaitReports() {
        long all = collections() - collectedBefore;
        long end = System.nanoTime() + REPORT_MILLIS * NANOS_A_MILLI;
        try {
            for (long left = REPORT_MILLIS; reported < all && left > 0;
                    left = (end - System.nanoTime()) / NANOS_A_MILLI) {
                wait(left);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** The pauses that have ended, in order and without overlap. */
    synchronized List<Recording.Stretch> since(long at) {
        awaitReports();
        List<Recording.Stretch> sorted = new ArrayList<>();
        pauses.forEach(pause -> sorted.add(byNanoTime(pause)));
        sorted.removeIf(pause -> pause.endAt() <= at);
        sorted.sort(Comparator.comparingLong(Recording.Stretch::beginAt));
        List<Recording.Stretch> apart = new ArrayList<>();
        long end = Long.MIN_VALUE;
        for (Recording.Stretch pause : sorted) {
            if (pause.endAt() > end) {
                apart.add(new Recording.Stretch(Math.max(end, pause.beginAt()), pause.endAt()));
                end = pause.endAt();
            }
        }
        return apart;
    }

    @Override
    public void close() {
        for (NotificationEmitter collector : collectors) {
            try {
                collector.removeNotificationListener(listener);
            } catch (ListenerNotFoundException _) {
                // already removed
            }
        }
        collectors.clear();
    }
}
