// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.col;

import io.penstock.store.IfExists;
import java.nio.file.FileAlreadyExistsException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Jobs that write to a bucket, in a process whose environment names the server. Tasks fail once. */
final class BucketJobs {

    private BucketJobs() {
    }

    /** Writes {@code tokens} and {@code samples} below a URI, twice: the second time only if they may be replaced. */
    public static void main(String[] arguments) throws Exception {
        SparkSession spark = SparkSession.builder().master("local[2,2]").config("spark.ui.enabled", false)
                .getOrCreate();
        Dataset<Row> rows = Documents.inOrder(spark).withColumn("text",
                SparkTokenizeJobTest.failing(1).apply(col("text")));
        SparkTokenizeJob tokens = new SparkTokenizeJob(rows, "text", Documents.GPT2, arguments[0] + "/tokens");
        SparkMdsJob samples = new SparkMdsJob(rows, "id", arguments[0] + "/samples");
        tokens.run();
        samples.run();
        refuse(tokens::run);
        refuse(samples::run);
        tokens.resumable("again").ifExists(IfExists.REPLACE).run();
        if (tokens.run().resumedParts() != 4) {
            throw new IllegalStateException("parts that were finished are not taken over");
        }
        samples.ifExists(IfExists.REPLACE).run();
        spark.stop();
    }

    private interface Job {
        Object run() throws Exception;
    }

    private static void refuse(Job job) throws Exception {
        try {
            job.run();
        } catch (FileAlreadyExistsException _) {
            return;
        }
        throw new IllegalStateException("what exists is replaced");
    }
}
