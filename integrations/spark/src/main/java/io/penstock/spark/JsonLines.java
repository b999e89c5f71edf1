// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.apache.spark.sql.functions.col;

import io.penstock.stream.RecordText;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;

/**
 * The documents of JSON lines, read as {@code penstock tokenize} reads them: one field of each line, and no other. That
 * takes less time than Spark's reader of JSON, which makes a string of each field.
 *
 * {@snippet :
 * Dataset<Row> documents = JsonLines.read(spark, "text", "hdfs:/corpus/*.jsonl.gz");
 * new SparkTokenizeJob(documents, "text", TokenizerSource.published("gpt2"), "/shared/tokens").run();
 * }
 */
public final class JsonLines {

    private static final String LINE = "value";

    private JsonLines() {
    }

    /**
     * Reads a field of all lines that are not blank.
     *
     * @param spark the session
     * @param field the field's name; each line must be an object in which it is a string, or the job that reads the
     *     rows fails and says what was found instead
     * @param paths files and folders, as Spark names them; those whose names end with {@code .gz} or another ending
     *     that Hadoop knows are decompressed
     * @return rows of one column, which has the field's name and its text in UTF-8 (bytes)
     */
    public static Dataset<Row> read(SparkSession spark, String field, String... paths) {
        Column line = col(LINE);
        return spark.read().option("lineSep", "\n").text(paths)
                .filter(line.startsWith("{").or(functions.trim(line, " \t\r").notEqual("")))
                .select(functions.udf(new Field(field), DataTypes.BinaryType).apply(line.cast(DataTypes.BinaryType))
                        .as(field));
    }

    /**
     * Reads whole lines that are not blank: records in JSON, such as conversations.
     *
     * @param spark the session
     * @param column the name of the column that the rows get
     * @param paths files and folders, as for {@link #read}
     * @return rows of that one column, of texts
     */
    public static Dataset<Row> records(SparkSession spark, String column, String... paths) {
        Column line = col(LINE);
        return spark.read().option("lineSep", "\n").text(paths)
                .filter(line.startsWith("{").or(functions.trim(line, " \t\r").notEqual("")))
                .select(line.as(column));
    }

    private static final class Field implements UDF1<byte[], byte[]> {

        private static final long serialVersionUID = 1;

        private final String name;
        /** That of the task, which has its own copy of this. */
        private transient @Nullable RecordText reader;

        Field(String name) {
            this.name = name;
        }

        @Override
        public byte[] call(byte[] line) throws IOException {
            RecordText field = reader;
            if (field == null) {
                field = RecordText.jsonField(name).forOneThread();
                reader = field;
            }
            return field.of(MemorySegment.ofArray(line)).toArray(JAVA_BYTE);
        }
    }
}
