// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Files of the past of runs. */
public final class BaselineExamples {

    private BaselineExamples() {
    }

    private static Map<String, String> key(int number) {
        return BaselineFile.key(SummaryExamples.FINGERPRINT, number, "host");
    }

    /** Writes a file with so many runs of one rank and one of another. */
    public static void write(Path file, int runs) throws IOException {
        BaselineFile past = BaselineFile.read(file.resolveSibling("absent"));
        for (int run = 0; run < runs; run++) {
            past = past.with(key(0), PastRuns.PastRun.of(SummaryExamples.run(run, 3, runs, 0.1,
                    SummaryExamples.FINGERPRINT)));
        }
        past.with(key(1), PastRuns.PastRun.of(SummaryExamples.run(1, 3, 2, 0.1, SummaryExamples.FINGERPRINT)))
                .write(file);
    }

    /** Reads such a file as text. */
    public static String read(Path file) throws IOException {
        BaselineFile past = BaselineFile.read(file);
        return past.of(key(0)) + " " + past.of(key(1));
    }
}
