// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.RecordText;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables of H2, and of PostgreSQL where the system has it. */
class JdbcSourceTest {

    private static final Map<String, DataSource> DATABASES = new TreeMap<>();
    private static Optional<Postgres> postgres = Optional.empty();

    @BeforeAll
    static void start() throws Exception {
        var h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:mem:test;DB_CLOSE_DELAY=-1");
        DATABASES.put("H2", h2);
        postgres = Postgres.start();
        postgres.ifPresent(server -> DATABASES.put("PostgreSQL", server.database()));
    }

    @AfterAll
    static void stop() throws Exception {
        if (postgres.isPresent()) {
            postgres.get().close();
        }
    }

    static Stream<String> databases() {
        return Stream.of("H2", "PostgreSQL");
    }

    private static DataSource database(String name) {
        Assumptions.assumeTrue(DATABASES.containsKey(name), name + " is not installed here");
        return DATABASES.get(name);
    }

    private static void run(DataSource database, String... statements) throws SQLException {
        try (Connection connection = database.getConnection(); Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** A table of numbered texts, with gaps between the numbers. */
    private static void posts(DataSource database, int rows) throws SQLException {
        run(database, "drop table if exists posts", "create table posts (id bigint primary key, body varchar(100))",
                "insert into posts values " + String.join(", ",
                        IntStream.range(0, rows).mapToObj(i -> "(" + 3 * i + ", 'post " + i + "')").toList()));
    }

    private static List<String> poll(StreamSource source, int partition, String cursor) throws IOException {
        List<String> records = new ArrayList<>();
        try (PartitionReader reader = source.open(partition, cursor); RecordBuffer into = new RecordBuffer()) {
            while (reader.poll(into) == Found.RECORD) {
                records.add(new String(into.record(into.count() - 1).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
            }
        }
        return records;
    }

    private static List<String> numbered(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "post " + i).toList();
    }

    @ParameterizedTest
    @MethodSource("databases")
    void rowsComeInTheOrderOfTheKeyFromAnyCursor(String name) throws Exception {
        DataSource database = database(name);
        posts(database, 25);
        StreamSource source = JdbcSource.builder(database, "posts", "id").columns("body").pageRows(7).open();
        assertEquals(numbered(0, 25), poll(source, 0, ""));
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i <= 25; i++) {
                assertEquals(numbered(i, 25), poll(source, 0, reader.cursor()));
                reader.poll(into);
            }
        }
    }

    @Test
    void aTableIsOpenedByItsName() throws Exception {
        posts(DATABASES.get("H2"), 30);
        String url = "jdbc:h2:mem:test;DB_CLOSE_DELAY=-1";
        StreamSource source = StreamSource.open(
                url + "#table=posts&key=id&columns=body&page=4&bounds=29&where=id %3E 5", StreamEnd.STOP);
        assertEquals(List.of("id <= 29", "29 < id"), source.partitions());
        assertEquals(numbered(2, 10), poll(source, 0, ""));
        assertEquals(numbered(10, 30), poll(source, 1, ""));
        for (String settings : List.of("", "#table=posts&key=id", "#table=posts&key=id&columns=body&limit=3",
                "#table=posts&key=id&columns=body&paging=rownum", "#table=posts&key=id&columns=body&page=many")) {
            assertThrows(IllegalArgumentException.class, () -> StreamSource.open(url + settings, StreamEnd.STOP),
                    settings);
        }
        assertThrows(IOException.class,
                () -> StreamSource.open("jdbc:nothing:x#table=posts&key=id&columns=body", StreamEnd.WAIT));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void rangesOfTheKeyArePartitions(String name) throws Exception {
        DataSource database = database(name);
        posts(database, 30);
        StreamSource source = JdbcSource.builder(database, "posts", "id").columns("body").bounds(29, 60).pageRows(4)
                .open();
        assertEquals(List.of("id <= 29", "29 < id <= 60", "60 < id"), source.partitions());
        assertEquals(numbered(0, 10), poll(source, 0, ""));
        assertEquals(numbered(10, 21), poll(source, 1, ""));
        assertEquals(numbered(21, 30), poll(source, 2, ""));
    }

    @Test
    void settingsThatAreUsedAgainLeaveTheFirstSourceAsItIs() throws Exception {
        posts(DATABASES.get("H2"), 10);
        JdbcSource.Builder settings = JdbcSource.builder(DATABASES.get("H2"), "posts", "id").columns("body");
        StreamSource training = settings.where("id < 15").open();
        StreamSource validation = settings.where("id >= 15").open();
        assertEquals(numbered(0, 5), poll(training, 0, ""));
        assertEquals(numbered(5, 10), poll(validation, 0, ""));
    }

    /** As those of SQLite and DuckDB do. */
    @Test
    void aConnectionThatRefusesToBeReadOnlyIsRead() throws Exception {
        DataSource database = DATABASES.get("H2");
        posts(database, 5);
        JdbcSource.Connections refusing = () -> {
            Connection connection = database.getConnection();
            return (Connection) Proxy.newProxyInstance(JdbcSourceTest.class.getClassLoader(),
                    new Class<?>[] {Connection.class}, (_, method, arguments) -> {
                        if (method.getName().equals("setReadOnly")) {
                            throw new SQLFeatureNotSupportedException("the connection is open");
                        }
                        return method.invoke(connection, arguments);
                    });
        };
        assertEquals(numbered(0, 5), poll(JdbcSource.builder(refusing, "posts", "id").columns("body").open(), 0, ""));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void aShuffledTableIsReadOnceHoweverOftenTheRunStops(String name) throws Exception {
        DataSource database = database(name);
        posts(database, 400);
        StreamSource source = JdbcSource.builder(database, "posts", "id").columns("body").bounds(600).pageRows(33)
                .open();
        List<String> straight = new ArrayList<>();
        assertEquals(400, take(source, null, Integer.MAX_VALUE, 16, straight).position());
        List<String> sorted = new ArrayList<>(straight);
        sorted.sort(null);
        assertEquals(numbered(0, 400).stream().sorted().toList(), sorted);
        List<String> pieces = new ArrayList<>();
        var random = new Random(2);
        LoaderState state = null;
        while (pieces.size() < straight.size()) {
            state = take(source, state, random.nextInt(6), 1 + random.nextInt(30), pieces);
            state = LoaderState.fromJson(state.toJson());
        }
        assertEquals(straight, pieces);
    }

    private static LoaderState take(StreamSource source, LoaderState from, int batches, int batchSize,
            List<String> to) {
        try (StreamDataset stream = StreamDataset.builder(source).field("body").shuffle(9, 50).open()) {
            DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(batchSize).workers(1)
                    .collator(StackAndPad.cutTo(64));
            if (from != null) {
                builder.resume(from);
            }
            try (DataLoader loader = builder.open()) {
                for (int i = 0; i < batches && loader.hasNext(); i++) {
                    try (Batch batch = loader.next()) {
                        Tensor body = batch.tensor("body");
                        int width = (int) body.dim(1);
                        for (int row = 0; row < batch.count(); row++) {
                            byte[] bytes = body.segment().asSlice((long) row * width, width).toArray(JAVA_BYTE);
                            to.add(new String(bytes, StandardCharsets.UTF_8).replace("\0", ""));
                        }
                    }
                }
                return loader.state();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("databases")
    void keysOfSeveralColumnsAndOfTextAreFollowed(String name) throws Exception {
        DataSource database = database(name);
        run(database, "drop table if exists parts", "create table parts (author varchar(20) not null, part int not"
                + " null, body varchar(20), unique (author, part))",
                "insert into parts values ('b,\\', 1, 'four'), ('a', 2, 'two'), ('a', 1, 'one'), ('a', 10, 'three')");
        StreamSource source = JdbcSource.builder(database, "parts", "author", "part").columns("body").pageRows(1)
                .open();
        List<String> expected = List.of("one", "two", "three", "four");
        assertEquals(expected, poll(source, 0, ""));
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i <= 4; i++) {
                assertEquals(expected.subList(i, 4), poll(source, 0, reader.cursor()));
                reader.poll(into);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("databases")
    void severalColumnsAreAJsonObject(String name) throws Exception {
        DataSource database = database(name);
        run(database, "drop table if exists kinds", "create table kinds (id int primary key, title varchar(50), price"
                + " numeric(6, 2), good boolean, nothing varchar(5), at timestamp)",
                "insert into kinds values (1, 'say \"hi\"\nthere \\ ü', 12.50, true, null, '2026-01-02 03:04:05')");
        StreamSource source = JdbcSource.builder(database, "kinds", "id")
                .columns("title", "price", "good", "nothing", "at").open();
        List<String> records = poll(source, 0, "");
        assertEquals(List.of("{\"title\":\"say \\\"hi\\\"\\u000athere \\\\ ü\",\"price\":12.50,\"good\":true,"
                + "\"nothing\":null,\"at\":\"2026-01-02 03:04:05\"}"), records);
        byte[] utf8 = records.getFirst().getBytes(StandardCharsets.UTF_8);
        assertEquals("say \"hi\"\nthere \\ ü", new String(RecordText.jsonField("title")
                .of(MemorySegment.ofArray(utf8)).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void aColumnOfBytesIsTheRecord(String name) throws Exception {
        DataSource database = database(name);
        String type = name.equals("H2") ? "varbinary(10)" : "bytea";
        run(database, "drop table if exists blobs", "create table blobs (id int primary key, data " + type + ")");
        try (Connection connection = database.getConnection();
                var insert = connection.prepareStatement("insert into blobs values (1, ?)")) {
            insert.setBytes(1, new byte[] {0, -1, 7});
            insert.execute();
        }
        StreamSource source = JdbcSource.builder(database, "blobs", "id").columns("data").open();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            assertEquals(Found.RECORD, reader.poll(into));
            assertArrayEquals(new byte[] {0, -1, 7}, into.record(0).toArray(JAVA_BYTE));
        }
    }

    /** Bytes that are no text. */
    @ParameterizedTest
    @MethodSource("databases")
    void aColumnOfALargeObjectIsItsBytes(String name) throws Exception {
        DataSource database = database(name);
        String type = name.equals("H2") ? "blob" : "bytea";
        run(database, "drop table if exists objects", "create table objects (id int primary key, data " + type + ")");
        try (Connection connection = database.getConnection();
                var insert = connection.prepareStatement("insert into objects values (1, ?)")) {
            insert.setBytes(1, new byte[] {0, -1, 7});
            insert.execute();
        }
        StreamSource source = JdbcSource.builder(database, "objects", "id").columns("data").open();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            assertEquals(Found.RECORD, reader.poll(into));
            assertArrayEquals(new byte[] {0, -1, 7}, into.record(0).toArray(JAVA_BYTE));
        }
        assertEquals(List.of("{\"id\":1,\"data\":\"AP8H\"}"),
                poll(JdbcSource.builder(database, "objects", "id").columns("id", "data").open(), 0, ""));
    }

    /** In the hour that the zone of the JVM lacks, and by microseconds. */
    @ParameterizedTest
    @MethodSource("databases")
    void keysOfTimesAreFollowedInEveryTimeZone(String name) throws Exception {
        DataSource database = database(name);
        List<String> times = List.of("2026-03-29 01:59:59", "2026-03-29 02:10:00", "2026-03-29 02:10:00.000001",
                "2026-03-29 02:50:00", "2026-03-29 03:05:00", "2026-10-25 02:30:00");
        run(database, "drop table if exists events", "create table events (happened timestamp primary key, time_of_day"
                + " time(6) not null unique, body varchar(40))",
                "insert into events values " + String.join(", ", times.stream().map(time -> "('" + time + "', '"
                        + time.substring(11).replace("02:30", "04:30") + "', '" + time + "')").toList()));
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
        try {
            for (String key : List.of("happened", "time_of_day")) {
                assertEquals(times, poll(JdbcSource.builder(database, "events", key).columns("body").pageRows(1)
                        .open(), 0, ""), key);
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @ParameterizedTest
    @MethodSource("databases")
    void aKeyOfATableOfThatNameInAnotherSchemaIsNoKey(String name) throws Exception {
        DataSource database = database(name);
        run(database, "drop schema if exists archive cascade", "create schema archive",
                "create table archive.visits (id int primary key, body varchar(5))",
                "drop table if exists visits", "create table visits (id int not null, body varchar(5))");
        var refused = assertThrows(IllegalArgumentException.class,
                () -> JdbcSource.builder(database, "visits", "id").columns("body").open());
        assertTrue(refused.getMessage().startsWith("visits, key [id]: found no unique index"), refused.getMessage());
        assertEquals(List.of(), poll(JdbcSource.builder(database, "archive.visits", "id").columns("body").open(), 0,
                ""));
    }

    /** Of the databases here, PostgreSQL has such indexes. */
    @Test
    void anIndexThatIsUniqueForSomeRowsIsNoKey() throws Exception {
        DataSource database = database("PostgreSQL");
        run(database, "drop table if exists versions", "create table versions (name varchar(5) not null, live boolean"
                + " not null)", "create unique index live_versions on versions (name) where live");
        assertThrows(IllegalArgumentException.class,
                () -> JdbcSource.builder(database, "versions", "name").columns("live").open());
    }

    @ParameterizedTest
    @MethodSource("databases")
    void aTableThatGrowsGoesOn(String name) throws Exception {
        DataSource database = database(name);
        posts(database, 3);
        StreamSource source = JdbcSource.builder(database, "posts", "id").columns("body").growing().open();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i < 3; i++) {
                assertEquals(Found.RECORD, reader.poll(into));
            }
            assertEquals(Found.NOTHING_YET, reader.poll(into));
            run(database, "insert into posts values (100, 'late')");
            assertEquals(Found.RECORD, reader.poll(into));
            assertEquals(Found.NOTHING_YET, reader.poll(into));
        }
    }

    @ParameterizedTest
    @MethodSource("databases")
    void aKeyThatIsNotUniqueOrMayBeNullIsRefused(String name) throws Exception {
        DataSource database = database(name);
        run(database, "drop table if exists loose", "create table loose (id int primary key, maybe int unique, many int"
                + " not null, body varchar(5))");
        for (String key : List.of("maybe", "many")) {
            var refused = assertThrows(IllegalArgumentException.class,
                    () -> JdbcSource.builder(database, "loose", key).columns("body").open());
            assertTrue(refused.getMessage().startsWith("loose, key [" + key + "]: found "), refused.getMessage());
        }
        assertThrows(IOException.class, () -> JdbcSource.builder(database, "loose", "none").columns("body").open());
        assertThrows(IOException.class, () -> JdbcSource.builder(database, "nowhere", "id").columns("body").open());
        StreamSource source = JdbcSource.builder(database, "loose", "id").columns("body").open();
        run(database, "insert into loose values (1, null, 1, null)");
        var missing = assertThrows(IOException.class, () -> poll(source, 0, ""));
        assertTrue(missing.getMessage().contains("key [1]: found no value in column body"), missing.getMessage());
        assertEquals(List.of(), poll(JdbcSource.builder(database, "loose", "id").columns("body")
                .where("body is not null").open(), 0, ""));
    }
}
