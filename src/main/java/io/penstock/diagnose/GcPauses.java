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
 * The JVM's pauses for garbage collection, as its collectors report them: to a millisecond, and only those parts of a
 * collection in which nothing else runs.
 */
final class GcPauses implements AutoCloseable {

    private static final int MOST = 4096;
    private static final long NANOS_A_MILLI = 1_000_000;
    /** What a report of a collection may take to arrive. */
    private static final long REPORT_MILLIS = 200;

    private final List<NotificationEmitter> collectors = new ArrayList<>();
    /** Collections that were over when this began to listen. */
    private final long collectedBefore;
    private final NotificationListener listener = (notification, _) -> collected(notification);
    /** By the collectors' clock, in milliseconds. Guarded by this. */
    private final Deque<Recording.Stretch> pauses = new ArrayDeque<>();
    /**
     * What {@link System#nanoTime} said when the collectors' clock began, which is some milliseconds behind the uptime
     * that the JVM tells: no report comes before the end of its collection, and the quickest one comes soon behind it.
     * Guarded by this.
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

    /** Collectors that run beside the program report cycles of their own, which are no pauses. */
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

    private synchronized void add(Recording.Stretch pauseMillis, long reportedAt) {
        if (pauses.size() == MOST) {
            pauses.removeFirst();
        }
        pauses.addLast(pauseMillis);
        clockBegan = Math.min(clockBegan, reportedAt - pauseMillis.endAt() * NANOS_A_MILLI);
        reported++;
        notifyAll();
    }

    /** Milliseconds are cut off, so what is meant is on average half of one later. */
    private Recording.Stretch byNanoTime(Recording.Stretch millis) {
        long meant = clockBegan + NANOS_A_MILLI / 2;
        return new Recording.Stretch(meant + millis.beginAt() * NANOS_A_MILLI, meant + millis.endAt() * NANOS_A_MILLI);
    }

    /** Collections are reported by a thread of the JVM, some time after they are over. Called with the lock. */
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

    /** In order, without overlap; those that are over when this is called. */
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
                // Gone already.
            }
        }
        collectors.clear();
    }
}
