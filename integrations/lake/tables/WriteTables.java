// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Writes the tables of the tests of delta/ and iceberg/ with Spark, and what Spark reads from each version. README.md
 * beside this file says how to run it.
 */
public final class WriteTables {

    private static SparkSession spark;
    private static Path out;

    public static void main(String[] args) throws Exception {
        out = Path.of(args[0]).toAbsolutePath();
        spark = SparkSession.builder().master("local[1]").appName("tables")
                .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension,"
                        + "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
                .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
                .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
                .config("spark.sql.catalog.lake.type", "hadoop")
                .config("spark.sql.catalog.lake.warehouse", out.resolve("iceberg").toString())
                .config("spark.sql.warehouse.dir", out.resolve("delta").toString())
                .config("spark.sql.session.timeZone", "UTC")
                .config("spark.sql.datetime.java8API.enabled", "true")
                .config("spark.sql.shuffle.partitions", "1")
                .config("spark.databricks.delta.snapshotPartitions", "1")
                .config("spark.sql.sources.parallelPartitionDiscovery.parallelism", "1")
                .config("spark.ui.enabled", "false").getOrCreate();
        Files.createDirectories(out.resolve("answers"));
        if (args.length < 2 || args[1].equals("delta")) {
            deltaEvents();
            deltaPlain();
        }
        if (args.length < 2 || args[1].equals("iceberg")) {
            icebergEvents("events", 2);
            icebergEvents("vectors", 3);
        }
        spark.stop();
    }

    private static final String COLUMNS = "id bigint, n int, score float, at timestamp, day date, price decimal(10,2),"
            + " country string, info struct<a: int, b: string>, tags array<string>, points array<double>, raw binary,"
            + " seen boolean";

    /** Rows {@code from} to {@code to}, with nulls in every column but the first. */
    private static String rows(int from, int to) {
        return "select id, if(id % 5 = 0, null, cast(id * 3 as int)) n,"
                + " if(id % 6 = 0, null, cast(id / 4 as float)) score,"
                + " if(id % 7 = 1, null, timestamp_micros(1700000000123456 + id * 1000001)) at,"
                + " if(id % 8 = 1, null, date_add(date '1969-12-20', cast(id as int))) day,"
                + " if(id % 9 = 1, null, cast(id - 20.25 as decimal(10,2))) price,"
                + " if(id % 11 = 3, null, element_at(array('de', 'fr', 'a b/c=d'), cast(id % 3 + 1 as int))) country,"
                + " if(id % 5 = 2, null, named_struct('a', cast(id as int),"
                + " 'b', if(id % 3 = 0, null, concat('b', id)))) info,"
                + " if(id % 4 = 1, null, array(concat('t', id), 'ü\"', null)) tags,"
                + " if(id % 4 = 2, null, array(id / 2.0D, cast(id as double))) points,"
                + " if(id % 3 = 2, null, cast(concat('raw', id) as binary)) raw,"
                + " if(id % 10 = 0, null, id % 2 = 0) seen from range(" + from + ", " + to + ")";
    }

    private static void sql(String statement) {
        spark.sql(statement).collectAsList();
    }

    private static void insert(String table, String rows) {
        spark.sql(rows).coalesce(1).createOrReplaceTempView("more");
        sql("insert into " + table + " select /*+ COALESCE(1) */ * from more");
    }

    private static void deltaEvents() throws IOException {
        sql("create table events (" + COLUMNS + ") using delta partitioned by (country) tblproperties ("
                + "'delta.enableDeletionVectors'='true', 'delta.enableChangeDataFeed'='true',"
                + "'delta.columnMapping.mode'='name', 'delta.enableTypeWidening'='true',"
                + "'delta.enableRowTracking'='false')");
        insert("events", rows(0, 40));
        insert("events", rows(40, 60));
        deltaAnswer("events");
        sql("delete from events where id % 7 = 0");
        deltaAnswer("events");
        sql("update events set n = n + 1000 where id % 13 = 1");
        deltaAnswer("events");
        sql("merge into events t using (select * from (" + rows(55, 65) + ")) s on t.id = s.id"
                + " when matched then update set t.score = -1 when not matched then insert *");
        deltaAnswer("events");
        sql("alter table events add column (more string, big int)");
        sql("alter table events alter column n type bigint");
        sql("alter table events rename column seen to was_seen");
        sql("alter table events rename column info to details");
        insert("events", "select *, concat('m', id) more, cast(7 as int) big from (" + rows(70, 80) + ")");
        deltaAnswer("events");
        sql("optimize events");
        deltaAnswer("events");
        sql("alter table events drop column raw");
        deltaAnswer("events");
    }

    /** Thirteen appends, so that there is a checkpoint, and then one that is compacted. */
    private static void deltaPlain() throws IOException {
        sql("create table plain (id bigint, n int, at timestamp, word string) using delta tblproperties ("
                + "'delta.enableDeletionVectors'='false', 'delta.checkpointInterval'='5')");
        for (int i = 0; i < 6; i++) {
            insert("plain", "select id, cast(id as int) n, timestamp_micros(id * 1000) at, concat('w', id) word"
                    + " from range(" + 3 * i + "," + (3 * i + 3) + ")");
        }
        deltaAnswer("plain");
        sql("optimize plain");
        deltaAnswer("plain");
        sql("delete from plain where id = 4");
        deltaAnswer("plain");
    }

    private static void deltaAnswer(String table) throws IOException {
        long version = spark.sql("describe history " + table).first().getLong(0);
        answer("delta-" + table + "-" + version, "select * from " + table);
    }

    private static void icebergEvents(String name, int format) throws IOException {
        String table = "lake.db." + name;
        sql("create table " + table + " (" + COLUMNS + ") using iceberg partitioned by (country, bucket(2, id))"
                + " tblproperties ('format-version'='" + format + "', 'write.delete.mode'='merge-on-read',"
                + "'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read',"
                + "'write.distribution-mode'='none', 'write.spark.fanout.enabled'='true')");
        insert(table, rows(0, 40));
        insert(table, rows(40, 60));
        icebergAnswer(name);
        sql("alter table " + table + " create tag two_inserts");
        sql("delete from " + table + " where id % 7 = 0");
        icebergAnswer(name);
        sql("update " + table + " set n = n + 1000 where id % 13 = 1");
        sql("merge into " + table + " t using (select * from (" + rows(55, 65) + ")) s on t.id = s.id"
                + " when matched then update set t.score = -1 when not matched then insert *");
        icebergAnswer(name);
        sql("alter table " + table + " add columns (more string, big int)");
        sql("alter table " + table + " alter column n type bigint");
        sql("alter table " + table + " alter column score type double");
        sql("alter table " + table + " alter column price type decimal(12,2)");
        sql("alter table " + table + " rename column seen to was_seen");
        sql("alter table " + table + " rename column info.a to first");
        sql("alter table " + table + " drop column raw");
        insert(table, "select id, n, score, at, day, price, country, info, tags, points, seen, concat('m', id) more,"
                + " cast(7 as int) big from (" + rows(70, 80) + ")");
        icebergAnswer(name);
        sql("call lake.system.rewrite_data_files(table => 'db." + name + "', options => map('rewrite-all','true'))");
        icebergAnswer(name);
    }

    private static void icebergAnswer(String name) throws IOException {
        long snapshot = spark.sql("select snapshot_id from lake.db." + name + ".history order by made_current_at desc")
                .first().getLong(0);
        answer("iceberg-" + name + "-" + snapshot, "select * from lake.db." + name);
    }

    private static void answer(String name, String query) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Row row : spark.sql(query + " order by id").collectAsList()) {
            List<String> members = new ArrayList<>();
            members(row, "", members);
            lines.add("{" + String.join(",", members) + "}");
        }
        Files.write(out.resolve("answers/" + name + ".jsonl"), lines);
        System.out.println(name + ": " + lines.size() + " rows");
    }

    /** A struct's fields are columns; a null struct has none. */
    private static void members(Row row, String prefix, List<String> into) {
        StructType type = row.schema();
        for (int i = 0; i < type.size(); i++) {
            StructField field = type.apply(i);
            if (row.get(i) instanceof Row inner) {
                members(inner, prefix + field.name() + ".", into);
            } else if (!row.isNullAt(i)) {
                into.add("\"" + prefix + field.name() + "\":" + json(row.get(i)));
            }
        }
    }

    private static String json(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof Instant at) {
            return Long.toString(at.getEpochSecond() * 1_000_000 + at.getNano() / 1000);
        }
        if (value instanceof LocalDateTime at) {
            return json(at.toInstant(ZoneOffset.UTC));
        }
        if (value instanceof LocalDate day) {
            return Long.toString(day.toEpochDay());
        }
        if (value instanceof BigDecimal decimal) {
            return "\"" + decimal.toPlainString() + "\"";
        }
        if (value instanceof byte[] bytes) {
            return "\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
        }
        if (value instanceof String text) {
            return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        }
        if (value instanceof scala.collection.Seq<?> list) {
            List<String> items = new ArrayList<>();
            for (int i = 0; i < list.size(); i++) {
                items.add(json(list.apply(i)));
            }
            return "[" + String.join(",", items) + "]";
        }
        return value.toString();
    }
}
