// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.stream.RecordText;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;

/**
 * Reads the documents of JSON lines, as {@code penstock tokenize} does: of each line the text of one field. That takes
 * less CPU time than {@code spark.read().json}, which makes a string of each line and of each field.
 *
 * {@snippet :
 * Dataset<Row> documents = JsonLines.read(spark, "text", "hdfs:/corpus");
 * new SparkTokenizeJob(documents, "text", TokenizerSource.published("gpt2"), "/shared/tokens").run();
 * }
 */
public final class JsonLines {

    private static final String LINE = "value";

    private JsonLines() {
    }

    /**
     * {@return the documents, a row for each line that is not blank, with one column of strings} A line that is no JSON
     * object with such a field fails the job that reads it.
     *
     * @param spark the session
     * @param field the field with the document, and the name of the column
     * @param paths files and folders, as Spark names them; may be compressed
     */
    public static Dataset<Row> read(SparkSession spark, String field, String... paths) {
        // Not deterministic, so that Spark evaluates it once a line.
        Column text = functions.udf(new Text(field), DataTypes.BinaryType).asNondeterministic()
                .apply(functions.col(LINE).cast(DataTypes.BinaryType)).cast(DataTypes.StringType);
        return spark.read().option("lineSep", "\n").text(paths).select(text.as(field))
                .filter(functions.col(field).isNotNull());
    }

    /** Finds the text in a line; null if the line is blank. */
    private static final class Text implements UDF1<byte[], byte[]> {

        private static final long serialVersionUID = 1;

        private final String field;
        private transient @Nullable RecordText text;

        Text(String field) {
            this.field = field;
        }

        @Override
        public byte @Nullable [] call(byte[] line) throws IOException {
            RecordText finder = text;
            if (finder == null) {
                finder = RecordText.jsonField(field).forOneThread();
                text = finder;
            }
            if (isBlank(line)) {
                return null;
            }
            try {
                return finder.of(MemorySegment.ofArray(line)).toArray(JAVA_BYTE);
            } catch (IOException e) {
                throw new IOException("a line of " + InputFileBlockHolder.getInputFilePath() + ": " + e.getMessage(),
                        e);
            }
        }

        private static boolean isBlank(byte[] line) {
            for (byte b : line) {
                if (b != ' ' && b != '\t' && b != '\r') {
                    return false;
                }
            }
            return true;
        }
    }
}
