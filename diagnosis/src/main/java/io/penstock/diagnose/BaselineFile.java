// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.PastRuns.PastRun;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.json.RecordJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The past of runs in one file: for each combination of data, settings and machine the latest {@value #MOST_RUNS} runs.
 * The file is replaced as a whole. Of processes that end at the same moment, the last one's run is kept.
 */
final class BaselineFile {

    private static final String FORMAT = "penstock-baseline-1";
    private static final long MOST_BYTES = 16 << 20;
    private static final int MOST_RUNS = 20;
    private static final int MOST_ENTRIES = 500;

    private final List<Entry> entries;

    private BaselineFile(List<Entry> entries) {
        this.entries = entries;
    }

    /** What must be equal for runs to be comparable, and the latest runs for which it is. */
    private record Entry(Map<String, String> key, List<PastRun> runs) {
    }

    /** What must be equal for runs of a rank on a machine to be comparable. */
    static Map<String, String> key(Fingerprint print, int rank, String host) {
        Map<String, String> key = new LinkedHashMap<>();
        key.put("dataset", String.valueOf(print.dataset()));
        key.put("batch_size", String.valueOf(print.batchSize()));
        key.put("rank", rank + " of " + print.worldSize());
        key.put("workers", String.valueOf(print.workers()));
        key.put("slots", print.hostSlots() + " and " + print.deviceSlots());
        key.put("read_mode", String.valueOf(print.readMode()));
        key.put("device", String.valueOf(print.gpu()));
        key.put("machine", host + ", " + print.cores() + " cores");
        return key;
    }

    /** Reads the file; nothing if there is none. */
    static BaselineFile read(Path file) throws IOException {
        return !Files.exists(file) ? new BaselineFile(List.of())
                : JsonFile.read(file, "a baseline", MOST_BYTES, BaselineFile::read);
    }

    private static BaselineFile read(JsonFields fields) {
        Object format = fields.take("format");
        if (!FORMAT.equals(format)) {
            throw fields.wrong("format", String.valueOf(format), FORMAT);
        }
        List<Entry> entries = new ArrayList<>();
        for (JsonFields entry : fields.objects("entries")) {
            List<PastRun> runs = new ArrayList<>();
            for (Object run : entry.array("runs")) {
                if (!(run instanceof Map<?, ?> members)) {
                    throw entry.wrong("runs", String.valueOf(run), "objects");
                }
                runs.add(RecordJson.record(members, PastRun.class, "runs"));
            }
            entries.add(new Entry(entry.object("key").texts(), runs));
        }
        return new BaselineFile(entries);
    }

    PastRuns of(Map<String, String> key) {
        return new PastRuns(entries.stream().filter(entry -> entry.key.equals(key)).findFirst().map(Entry::runs)
                .orElse(List.of()));
    }

    /** This with one more run, as the latest entry. */
    BaselineFile with(Map<String, String> key, PastRun run) {
        List<PastRun> runs = new ArrayList<>(of(key).runs());
        runs.add(run);
        List<Entry> all = new ArrayList<>(entries.stream().filter(entry -> !entry.key.equals(key)).toList());
        all.add(new Entry(key, runs.subList(Math.max(0, runs.size() - MOST_RUNS), runs.size())));
        return new BaselineFile(all.subList(Math.max(0, all.size() - MOST_ENTRIES), all.size()));
    }

    void write(Path file) throws IOException {
        AtomicFile.write(file, Json.pretty(Json.members("format", FORMAT, "entries", entries.stream().map(entry ->
                Json.members("key", entry.key, "runs", RecordJson.write(entry.runs))).toList())));
    }
}
