// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** A driver in a process of its own, whose job waits at a gate in the last of four parts. */
final class KilledDriver {

    private KilledDriver() {
    }

    static SparkTokenizeJob job(SparkSession spark, Gate gate, Path output) {
        return new SparkTokenizeJob(gate.before(Documents.inOrder(spark)), "text", Documents.GPT2, output.toString())
                .resumable("killed");
    }

    /** Runs the job: master, folder of the gate, output. */
    public static void main(String[] arguments) throws Exception {
        job(Cluster.session(arguments[0], Map.of()), Gate.at(Path.of(arguments[1]), Documents.COUNT - 1),
                Path.of(arguments[2])).run();
    }
}
