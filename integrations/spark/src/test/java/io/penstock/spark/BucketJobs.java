// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.apache.spark.sql.functions.col;

import io.penstock.store.IfExists;
import java.nio.file.FileAlreadyExistsException;
import org.apache.spark.SparkException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/** Jobs that write to a bucket, in a process whose environment names the server. Tasks fail once. */
final class BucketJobs {

    private BucketJobs() {
    }

    /**
     * Writes {@code tokens}, {@code samples} and {@code tars/train-%03d.tar} below a URI, twice: the second time only
     * if they may be replaced. A third job for the tars fails when some are sent.
     */
    public static void main(String[] arguments) throws Exception {
        SparkSession spark = session(2);
        Dataset<Row> rows = Documents.inOrder(spark).withColumn("text",
                SparkTokenizeJobTest.failing(1).apply(col("text")));
        SparkTokenizeJob tokens = new SparkTokenizeJob(rows, "text", Documents.GPT2, arguments[0] + "/tokens");
        SparkMdsJob samples = new SparkMdsJob(rows, "id", arguments[0] + "/samples");
        SparkShardJob shards = shards(rows, arguments[0]).order(RowOrder.by(5, "id"));
        tokens.run();
        samples.run();
        shards.run();
        refuse(FileAlreadyExistsException.class, tokens::run);
        refuse(FileAlreadyExistsException.class, samples::run);
        refuse(FileAlreadyExistsException.class, shards::run);
        tokens.resumable("again").ifExists(IfExists.REPLACE).run();
        if (tokens.run().resumedParts() != 4) {
            throw new IllegalStateException("parts that were finished are not taken over");
        }
        samples.ifExists(IfExists.REPLACE).run();
        shards.order(RowOrder.by(4, "id")).ifExists(IfExists.REPLACE).run();
        spark.stop();
        SparkSession oneSlot = session(1);                   // in which the parts before the one that fails are done
        Dataset<Row> nulls = Documents.inOrder(oneSlot).withColumn("id", functions.when(col("id").lt(390), col("id")));
        refuse(SparkException.class, shards(nulls, arguments[0]).ifExists(IfExists.REPLACE)::run);
        oneSlot.stop();
    }

    private static SparkSession session(int slots) {
        return SparkSession.builder().master("local[" + slots + ",2]").config("spark.ui.enabled", false).getOrCreate();
    }

    private static SparkShardJob shards(Dataset<Row> rows, String folder) {
        return new SparkShardJob(rows, "id", folder + "/tars/train-%03d.tar").member("txt", "text");
    }

    private interface Job {
        Object run() throws Exception;
    }

    private static void refuse(Class<? extends Exception> why, Job job) throws Exception {
        try {
            job.run();
        } catch (Exception e) {
            if (why.isInstance(e)) {
                return;
            }
            throw e;
        }
        throw new IllegalStateException("expected " + why);
    }
}
