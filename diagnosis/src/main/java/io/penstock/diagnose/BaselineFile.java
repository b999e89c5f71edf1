// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.PastRuns.Run;
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
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The past of runs in one file: for each combination of data, settings and machine the latest {@value #MOST_RUNS} runs.
 * The file is replaced as a whole. Of processes that end at the same moment, the last one's run is kept.
 */
record BaselineFile(List<Entry> entries) {

    private static final String FORMAT = "penstock-baseline-1";
    private static final long MOST_BYTES = 16 << 20;
    private static final int MOST_RUNS = 20;
    private static final int MOST_ENTRIES = 500;

    /** What must be equal for runs to be comparable. */
    record Key(@Nullable String dataset, int batchSize, int worldSize, int rank, int workers, int hostSlots,
            int deviceSlots, @Nullable String readMode, @Nullable String gpu, int cores, String host) {

        static Key of(Fingerprint print, int rank, String host) {
            return new Key(print.dataset(), print.batchSize(), print.worldSize(), rank, print.workers(),
                    print.hostSlots(), print.deviceSlots(), print.readMode(), print.gpu(), print.cores(), host);
        }
    }

    record Entry(Key key, List<Run> runs) {
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
        Map<String, @Nullable Object> all = Json.members("entries", fields.take("entries"));
        return RecordJson.record(all, BaselineFile.class, "baseline");
    }

    PastRuns of(Key key) {
        return new PastRuns(entries.stream().filter(entry -> entry.key.equals(key)).findFirst().map(Entry::runs)
                .orElse(List.of()));
    }

    /** This with one more run, as the latest entry. */
    BaselineFile with(Key key, Run run) {
        List<Run> runs = new ArrayList<>(of(key).runs());
        runs.add(run);
        List<Entry> all = new ArrayList<>(entries.stream().filter(entry -> !entry.key.equals(key)).toList());
        all.add(new Entry(key, runs.subList(Math.max(0, runs.size() - MOST_RUNS), runs.size())));
        return new BaselineFile(all.subList(Math.max(0, all.size() - MOST_ENTRIES), all.size()));
    }

    void write(Path file) throws IOException {
        AtomicFile.write(file, Json.pretty(Json.members("format", FORMAT, "entries", RecordJson.write(entries))));
    }
}
