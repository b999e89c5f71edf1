// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.Recording;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Copying;
import io.penstock.telemetry.BatchAccount.Making;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.BatchAccount.Usage;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes a recording's steps in Chrome's trace event format, for ui.perfetto.dev, chrome://tracing and PyTorch's
 * profiler plugin. A process is a rank; its threads are lanes:
 *
 * <pre>
 *   tid   0     steps                ProfilerStep#N
 *   tid   1     trainer              the loader's __next__, the name that PyTorch's plugin looks for; the lease
 *   tid  10 +   workers              waiting for a slot, plan, make
 *   tid 100     copy                 submit; the copy
 *   tid 200     JVM                  pauses
 * </pre>
 *
 * With more than 90 workers, the copy and the JVM have the lanes behind the last worker. Slices of a lane nest. A batch
 * is an asynchronous slice from its worker's claim until its close, and a flow joins its making, copying and taking.
 * Counters show ready batches and free slots. Source: "Trace Event Format", Google.
 */
public final class ChromeTrace {

    private static final int STEPS = 0;
    private static final int TRAINER = 1;
    private static final int WORKERS = 10;
    private static final int COPY = 100;
    private static final int JVM = 200;

    private final Recording recording;
    private final List<BatchAccount> accounts;
    private final Writer out;
    private final long origin;
    private final int copyLane;
    private final int jvmLane;
    private boolean first = true;

    private ChromeTrace(Recording recording, List<BatchAccount> accounts, Writer out) {
        this.recording = recording;
        this.accounts = accounts;
        this.out = out;
        this.origin = accounts.stream().mapToLong(account ->
                Math.min(account.making().claimedAt(), account.taking().requestedAt())).min().orElse(0);
        int workers = accounts.stream().mapToInt(account -> account.making().worker() + 1).max().orElse(0);
        this.copyLane = Math.max(COPY, WORKERS + workers);
        this.jvmLane = Math.max(JVM, copyLane + 1);
    }

    /**
     * Writes a trace file atomically.
     *
     * @param recording the recording
     * @param window its steps to write
     * @param file the file; replaced if it exists
     * @return number of steps written
     * @throws IOException if it cannot be written
     */
    public static int write(Recording recording, TraceWindow window, Path file) throws IOException {
        int[] steps = new int[1];
        AtomicFile.write(file, out ->
                steps[0] = write(recording, window, new OutputStreamWriter(out, StandardCharsets.UTF_8)));
        return steps[0];
    }

    /**
     * Writes a trace.
     *
     * @param recording the recording
     * @param window its steps to write
     * @param out the target
     * @return number of steps written
     * @throws IOException if it cannot be written
     */
    public static int write(Recording recording, TraceWindow window, Writer out) throws IOException {
        List<BatchAccount> shown = recording.accounts().stream().filter(a -> window.has(a.sequence())).toList();
        new ChromeTrace(recording, shown, out).write();
        return shown.size();
    }

    private void write() throws IOException {
        out.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
        names();
        for (int i = 0; i < accounts.size(); i++) {
            trainer(accounts.get(i), i + 1 < accounts.size() ? accounts.get(i + 1) : null);
            worker(accounts.get(i));
            copy(accounts.get(i));
            lifetime(accounts.get(i));
        }
        pauses();
        out.write("\n]}\n");
        out.flush();
    }

    private void names() throws IOException {
        event("M", "process_name", STEPS, Map.of("args",
                Map.of("name", "rank " + recording.settings().rank() + ", " + recording.settings().name())));
        lane(STEPS, "steps");
        lane(TRAINER, "trainer");
        for (int worker : new TreeSet<>(accounts.stream().map(a -> a.making().worker()).toList())) {
            lane(WORKERS + worker, "worker " + worker);
        }
        if (accounts.stream().anyMatch(account -> account.copying() != null)) {
            lane(copyLane, "copy to " + recording.settings().device());
        }
        lane(jvmLane, "JVM");
    }

    private void lane(int tid, String name) throws IOException {
        event("M", "thread_name", tid, Map.of("args", Map.of("name", name)));
        event("M", "thread_sort_index", tid, Map.of("args", Map.of("sort_index", tid)));
    }

    private void trainer(BatchAccount account, @Nullable BatchAccount next) throws IOException {
        Taking taking = account.taking();
        long closed = Math.max(taking.takenAt(), taking.closedAt());
        long end = next != null && next.sequence() == account.sequence() + 1 && !next.first()
                ? next.taking().requestedAt() : closed;
        slice(STEPS, "ProfilerStep#" + account.sequence(), taking.requestedAt(), Math.max(end, taking.takenAt()),
                Map.of("epoch", account.epoch(), "samples", account.samples(), "bytes", account.bytes()));
        slice(TRAINER, "enumerate(DataLoader)#" + recording.settings().name() + ".__next__", taking.requestedAt(),
                taking.takenAt(), Map.of("batch", account.sequence()));
        // Leases may overlap if the trainer takes the next batch before closing this one; slices may not.
        long held = next == null ? closed : Math.min(closed, next.taking().requestedAt());
        slice(TRAINER, "holds the batch", taking.takenAt(), Math.max(held, taking.takenAt()),
                Map.of("batch", account.sequence()));
        flow("f", account, TRAINER, taking.takenAt());
        counter("batches ready", taking.requestedAt(), taking.readyBatches());
        counter("free slots", taking.requestedAt(), taking.freeSlots());
    }

    private void worker(BatchAccount account) throws IOException {
        Making making = account.making();
        int tid = WORKERS + making.worker();
        Map<String, @Nullable Object> batch = Map.of("batch", account.sequence());
        slice(tid, "waits for a slot", making.claimedAt(), making.slotAt(), batch);
        slice(tid, "plan", making.plannedAt() - making.planNanos(), making.plannedAt(), batch);
        slice(tid, "make", making.plannedAt(), making.madeAt(), parts(account));
        flow("s", account, tid, making.plannedAt());
    }

    /** Stages alternate sample by sample, so they are sums instead of slices. */
    private static Map<String, @Nullable Object> parts(BatchAccount account) {
        Making making = account.making();
        Map<String, @Nullable Object> parts = Json.members("batch", account.sequence());
        put(parts, "read_us", making.readNanos());
        put(parts, "decode_us", making.decodeNanos());
        put(parts, "transform_us", making.transformNanos());
        put(parts, "collate_us", making.collateNanos());
        Usage usage = making.usage();
        if (usage != null) {
            put(parts, "cpu_us", usage.cpuNanos());
            put(parts, "blocked_us", making.blockedNanos());
            parts.put("disk_bytes", usage.diskBytes());
        }
        return parts;
    }

    private static void put(Map<String, @Nullable Object> parts, String name, long nanos) {
        if (nanos != BatchAccount.NOT_MEASURED) {
            parts.put(name, nanos / 1e3);
        }
    }

    private void copy(BatchAccount account) throws IOException {
        Copying copying = account.copying();
        if (copying == null) {
            return;
        }
        Map<String, @Nullable Object> args = Json.members("batch", account.sequence(), "bytes", account.bytes());
        if (account.onDevice() != null) {
            put(args, "device_us", account.onDevice().copyNanos());
        }
        slice(copyLane, "submit", copying.submitAt(), copying.submittedAt(), args);
        flow("t", account, copyLane, copying.submitAt());
        long arrived = copying.arrivedAt();
        if (arrived != BatchAccount.NOT_MEASURED) {
            async("b", "copy", account.sequence(), copying.submitAt());
            async("e", "copy", account.sequence(), Math.max(arrived, copying.submitAt()));
        }
    }

    private void lifetime(BatchAccount account) throws IOException {
        long end = Math.max(account.taking().takenAt(), account.taking().closedAt());
        async("b", "batch", account.sequence(), account.making().claimedAt());
        async("e", "batch", account.sequence(), end);
    }

    private void pauses() throws IOException {
        if (accounts.isEmpty()) {
            return;
        }
        long end = accounts.getLast().taking().takenAt();
        for (Recording.Stretch pause : recording.pauses()) {
            if (pause.endAt() >= origin && pause.beginAt() <= end) {
                slice(jvmLane, "pause", Math.max(origin, pause.beginAt()), pause.endAt(), Map.of());
            }
        }
    }

    // ---- events

    private void slice(int tid, String name, long beginAt, long endAt, Map<String, @Nullable Object> args)
            throws IOException {
        if (endAt > beginAt) {
            event("X", name, tid, Map.of("ts", micros(beginAt), "dur", (endAt - beginAt) / 1e3, "cat", "penstock",
                    "args", args));
        }
    }

    private void async(String phase, String name, long id, long at) throws IOException {
        event(phase, name, TRAINER, Map.of("ts", micros(at), "cat", name, "id", Long.toString(id)));
    }

    private void flow(String phase, BatchAccount account, int tid, long at) throws IOException {
        Map<String, @Nullable Object> fields = Json.members("ts", micros(at), "cat", "flow", "id", account.sequence());
        if (phase.equals("f")) {
            fields.put("bp", "e");
        }
        event(phase, "batch", tid, fields);
    }

    private void counter(String name, long at, long value) throws IOException {
        if (value != BatchAccount.NOT_MEASURED) {
            event("C", name, STEPS, Map.of("ts", micros(at), "args", Map.of("value", value)));
        }
    }

    private void event(String phase, String name, int tid, Map<String, @Nullable Object> more) throws IOException {
        Map<String, @Nullable Object> fields = Json.members("ph", phase, "name", name,
                "pid", recording.settings().rank(), "tid", tid);
        fields.putAll(more);
        out.write(first ? "" : ",\n");
        out.write(Json.write(fields));
        first = false;
    }

    private double micros(long at) {
        return (at - origin) / 1e3;
    }
}
