// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.stream.PartitionReader;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose keys have every type: the rows and their order are what the database gives in one query. */
class KeysTest {

    private static final int ROWS = 40;
    /** More than a page. */
    private static final int FROM_A_CURSOR = 9;

    /**
     * Keys of one type.
     *
     * @param database where
     * @param type the column's type, as it is declared
     * @param literal a value in SQL
     */
    record Keys(String database, String type, Function<Random, String> literal) {

        @Override
        public String toString() {
            return database + " " + type;
        }
    }

    private static String quoted(Object value) {
        return "'" + value + "'";
    }

    private static String whole(Random random) {
        return Long.toString(random.nextLong() >> random.nextInt(62));
    }

    private static String unsigned(Random random) {
        return new BigInteger(64, random).toString();
    }

    private static String decimal(Random random) {
        return BigDecimal.valueOf(random.nextLong(), 3).toString();
    }

    private static String number(Random random) {
        return Double.toString(random.nextGaussian() * Math.pow(10, random.nextInt(-12, 12)));
    }

    private static String single(Random random) {
        return Float.toString(random.nextFloat() * 1000);
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        random.ints(random.nextInt(1, 9), 0, 9).forEach(i -> text.append("aB,xÖé-z'".charAt(i)));
        return quoted((text + "" + random.nextInt(1 << 20)).replace("'", "''"));
    }

    private static String hex(Random random) {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static String bytes(Random random) {
        return "x" + quoted(hex(random));
    }

    private static String uuid(Random random) {
        byte[] name = new byte[16];
        random.nextBytes(name);
        return quoted(UUID.nameUUIDFromBytes(name));
    }

    /** Of the days on which clocks in Europe go forward and back. */
    private static LocalDateTime time(Random random) {
        return LocalDateTime.of(2026, random.nextBoolean() ? 3 : 10, random.nextBoolean() ? 29 : 25, 0, 0)
                .plus(random.nextLong(20_000_000_000L), ChronoUnit.MICROS);
    }

    private static String timestamp(Random random) {
        return quoted(time(random).toString().replace('T', ' '));
    }

    private static String moment(Random random) {
        return quoted(time(random).toString().replace('T', ' ') + (random.nextBoolean() ? "+01:00" : "+00:00"));
    }

    private static String date(Random random) {
        return quoted(time(random).toLocalDate().plusDays(random.nextInt(9999)));
    }

    private static String timeOfDay(Random random) {
        return quoted(time(random).toLocalTime());
    }

    private static String mixed(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> whole(random);
            case 1 -> number(random);
            case 2 -> text(random);
            default -> bytes(random);
        };
    }

    private static String duckBytes(Random random) {
        return "unhex(" + quoted(hex(random)) + ")";
    }

    static Stream<Keys> readable() {
        List<Keys> keys = new ArrayList<>();
        for (String database : Databases.ALL) {
            boolean isLite = database.equals("SQLite");
            boolean isPostgres = database.equals("PostgreSQL");
            keys.add(new Keys(database, "int", random -> Integer.toString(random.nextInt())));
            keys.add(new Keys(database, "bigint", KeysTest::whole));
            keys.add(new Keys(database, "smallint", random -> Integer.toString((short) random.nextInt())));
            keys.add(new Keys(database, "decimal(20, 3)", KeysTest::decimal));
            keys.add(new Keys(database, "double precision", KeysTest::number));
            keys.add(new Keys(database, "varchar(40)", KeysTest::text));
            keys.add(new Keys(database, "char(40)", KeysTest::text));
            keys.add(new Keys(database, "date", KeysTest::date));
            keys.add(new Keys(database, database.equals("MariaDB") ? "datetime(6)" : "timestamp", KeysTest::timestamp));
            keys.add(new Keys(database, database.equals("DuckDB") ? "time" : "time(6)", KeysTest::timeOfDay));
            if (!isLite) {
                keys.add(new Keys(database, "uuid", KeysTest::uuid));
            }
            if (!database.equals("MariaDB")) {
                keys.add(new Keys(database, "real", KeysTest::single));
            }
            if (!database.equals("DuckDB")) {
                keys.add(new Keys(database, isPostgres ? "bytea" : isLite ? "blob" : "varbinary(16)",
                        isPostgres ? random -> "'\\x" + hex(random) + "'" : KeysTest::bytes));
            }
        }
        keys.add(new Keys("H2", "tinyint", random -> Integer.toString((byte) random.nextInt())));
        keys.add(new Keys("H2", "binary(16)", KeysTest::bytes));
        keys.add(new Keys("H2", "decfloat", KeysTest::number));
        keys.add(new Keys("H2", "varchar_ignorecase(40)", KeysTest::text));
        keys.add(new Keys("H2", "timestamp(9) with time zone", KeysTest::moment));
        keys.add(new Keys("H2", "time(6) with time zone", random -> quoted(time(random).toLocalTime() + "+01:00")));
        keys.add(new Keys("SQLite", "", KeysTest::mixed));
        keys.add(new Keys("SQLite", "numeric", KeysTest::mixed));
        keys.add(new Keys("SQLite", "text collate nocase", KeysTest::text));
        keys.add(new Keys("DuckDB", "blob", KeysTest::duckBytes));
        keys.add(new Keys("DuckDB", "hugeint", random -> "-" + new BigInteger(126, random)));
        keys.add(new Keys("DuckDB", "ubigint", KeysTest::unsigned));
        keys.add(new Keys("DuckDB", "utinyint", random -> Integer.toString(random.nextInt(256))));
        keys.add(new Keys("DuckDB", "timestamptz", KeysTest::moment));
        keys.add(new Keys("DuckDB", "timestamp_ns", random -> quoted(time(random).plusNanos(1))));
        keys.add(new Keys("DuckDB", "bit", random -> quoted(Integer.toBinaryString(random.nextInt(1 << 20)))));
        keys.add(new Keys("PostgreSQL", "timestamptz", KeysTest::moment));
        keys.add(new Keys("PostgreSQL", "timetz", random -> quoted(time(random).toLocalTime() + "+01:00")));
        keys.add(new Keys("PostgreSQL", "interval", random -> quoted(random.nextInt() + " seconds")));
        keys.add(new Keys("PostgreSQL", "inet", random -> quoted("10.1." + random.nextInt(256) + "."
                + random.nextInt(256))));
        keys.add(new Keys("PostgreSQL", "bit varying", random -> quoted(Integer.toBinaryString(random.nextInt(999)))));
        keys.add(new Keys("PostgreSQL", "jsonb", random -> quoted("[\"" + hex(random) + "\"]")));
        keys.add(new Keys("PostgreSQL", "int[]", random -> quoted("{" + random.nextInt(9) + ", " + random.nextInt()
                + "}")));
        keys.add(new Keys("PostgreSQL", "numeric", random -> random.nextInt(9) == 0 ? "'NaN'" : number(random)));
        keys.add(new Keys("PostgreSQL", "oid", random -> quoted(random.nextLong(1L << 32))));
        keys.add(new Keys("PostgreSQL", "money", random -> quoted(random.nextInt(1 << 20) / 100.0)));
        keys.add(new Keys("PostgreSQL", "name", KeysTest::text));
        keys.add(new Keys("PostgreSQL", "varchar(40) collate \"C\"", KeysTest::text));
        keys.add(new Keys("MariaDB", "binary(16)", KeysTest::bytes));
        keys.add(new Keys("MariaDB", "bigint unsigned", KeysTest::unsigned));
        keys.add(new Keys("MariaDB", "int unsigned", random -> Long.toString(random.nextLong(1L << 32))));
        keys.add(new Keys("MariaDB", "tinyint(1)", random -> Integer.toString((byte) random.nextInt())));
        keys.add(new Keys("MariaDB", "bit(20)", random -> Integer.toString(random.nextInt(1 << 20))));
        keys.add(new Keys("MariaDB", "timestamp(6)", KeysTest::timestamp));
        keys.add(new Keys("MariaDB", "time(3)", random -> quoted(random.nextInt(-800, 800) + ":10:20."
                + random.nextInt(100, 1000))));
        keys.add(new Keys("MariaDB", "year", random -> Integer.toString(random.nextInt(1901, 2155))));
        keys.add(new Keys("MariaDB", "inet6", random -> quoted("::" + Integer.toHexString(random.nextInt(1 << 16)))));
        keys.add(new Keys("MariaDB", "varchar(40) collate utf8mb4_bin", KeysTest::text));
        return keys.stream();
    }

    /** Makes a table; gives what the database sorts. */
    private static List<String> fill(JdbcSource.Connections database, String table, String columns, String key,
            Set<String> rows) throws SQLException {
        Databases.run(database, "drop table if exists " + table, "create table " + table + " (" + columns
                + ", body varchar(20) not null, primary key (" + key + "))");
        int i = 0;
        List<String> values = new ArrayList<>();
        for (String row : rows) {
            values.add("(" + row + ", 'row " + i++ + "')");
        }
        Databases.run(database, "insert into " + table + " values " + String.join(", ", values));
        List<String> sorted = new ArrayList<>();
        try (Connection connection = database.open(); Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("select body from " + table + " order by " + key)) {
            while (result.next()) {
                sorted.add(result.getString(1));
            }
        }
        return sorted;
    }

    private static List<String> poll(StreamSource source, String cursor, int most) throws IOException {
        List<String> records = new ArrayList<>();
        try (PartitionReader reader = source.open(0, cursor); RecordBuffer into = new RecordBuffer()) {
            while (records.size() < most && reader.poll(into) == Found.RECORD) {
                records.add(new String(into.record(into.count() - 1).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
            }
        }
        return records;
    }

    private static void assertRead(StreamSource source, List<String> sorted) throws IOException {
        assertEquals(sorted, poll(source, "", 2 * sorted.size()));
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i <= sorted.size(); i++) {
                assertEquals(sorted.subList(i, Math.min(sorted.size(), i + FROM_A_CURSOR)),
                        poll(source, reader.cursor(), FROM_A_CURSOR), "from " + reader.cursor());
                reader.poll(into);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("readable")
    void eachRowComesOnceInTheDatabasesOrderFromAnyCursor(Keys keys) throws Exception {
        JdbcSource.Connections database = Databases.of(keys.database());
        var random = new Random(7);
        Set<String> rows = new LinkedHashSet<>();
        while (rows.size() < ROWS) {
            rows.add(keys.literal().apply(random));
        }
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
        try {
            List<String> sorted = fill(database, "keys_of_a_type", "id " + keys.type() + " not null", "id", rows);
            assertRead(JdbcSource.builder(database, "keys_of_a_type", "id").columns("body").pageRows(7).open(),
                    sorted);
        } finally {
            TimeZone.setDefault(before);
        }
    }

    /** Keys of two columns, of which the first has few values. */
    static Stream<Keys> pairs() {
        List<Keys> all = readable().toList();
        var random = new Random(11);
        List<Keys> pairs = new ArrayList<>();
        for (String database : Databases.ALL) {
            List<Keys> own = all.stream().filter(keys -> keys.database().equals(database)).toList();
            for (int i = 0; i < 4; i++) {
                Keys first = own.get(random.nextInt(own.size()));
                Keys second = own.get(random.nextInt(own.size()));
                pairs.add(new Keys(database, first.type() + " not null, part " + second.type(), from -> {
                    String few = first.literal().apply(new Random(from.nextInt(4)));
                    return few + ", " + second.literal().apply(from);
                }));
            }
            if (!database.equals("SQLite")) {
                Function<Random, String> truth = random2 -> random2.nextInt(2) == 0 ? "true" : "false";
                pairs.add(new Keys(database, "boolean not null, part int",
                        from -> truth.apply(from) + ", " + from.nextInt()));
            }
        }
        return pairs.stream();
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void aKeyOfTwoTypesIsFollowed(Keys keys) throws Exception {
        JdbcSource.Connections database = Databases.of(keys.database());
        var random = new Random(7);
        Set<String> rows = new LinkedHashSet<>();
        while (rows.size() < ROWS) {
            rows.add(keys.literal().apply(random));
        }
        List<String> sorted = fill(database, "keys_of_two", "id " + keys.type() + " not null", "id, part", rows);
        assertRead(JdbcSource.builder(database, "keys_of_two", "id", "part").columns("body").pageRows(7).open(),
                sorted);
    }

    /** MariaDB sorts these by their place in the list, and compares them as texts; its texts of floats are rounded. */
    @ParameterizedTest
    @ValueSource(strings = {"enum('z', 'a', 'm', 'b')", "float"})
    void aKeyThatTheDatabaseDoesNotFindAgainIsRefusedByName(String type) throws Exception {
        JdbcSource.Connections database = Databases.of("MariaDB");
        fill(database, "changing", "id " + type + " not null", "id", type.equals("float")
                ? Set.of("0.1", "0.2", "16777217.5", "123456.789") : Set.of("'z'", "'a'", "'m'", "'b'"));
        var refused = assertThrows(IllegalArgumentException.class,
                () -> JdbcSource.builder(database, "changing", "id").columns("body").open());
        assertTrue(refused.getMessage().startsWith("changing, key [id] as ["), refused.getMessage());
    }

    /** The rows in the middle of a table are looked at when reading comes to them. */
    @Test
    void aKeyThatChangesInTheMiddleOfTheTableIsRefusedThere() throws Exception {
        JdbcSource.Connections database = Databases.of("MariaDB");
        Set<String> rows = new LinkedHashSet<>();
        for (int i = 0; i < 40; i++) {
            rows.add(i < 10 || i >= 30 ? Integer.toString(i) : i + ".1234321");
        }
        List<String> sorted = fill(database, "changing_inside", "id float not null", "id", rows);
        StreamSource source = JdbcSource.builder(database, "changing_inside", "id").columns("body").pageRows(7).open();
        var refused = assertThrows(IOException.class, () -> poll(source, "", 100));
        assertTrue(refused.getMessage().contains("changing_inside, key [id] as [SINGLE]"), refused.getMessage());
        for (int i = 1; i < 40; i++) {
            List<String> given = new ArrayList<>();
            try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
                for (int k = 0; k < Math.min(i, 13); k++) {
                    reader.poll(into);
                }
                try {
                    given = poll(source, reader.cursor(), 1);
                } catch (IOException e) {
                    assertTrue(e.getMessage().contains("changing_inside, key [id]"), e.getMessage());
                    continue;
                }
            }
            assertEquals(sorted.subList(Math.min(i, 13), Math.min(i, 13) + 1), given);
        }
    }

    /** Without an error: pages of one row, each behind a row that is gone. */
    @ParameterizedTest
    @ValueSource(strings = {"H2", "SQLite", "DuckDB", "PostgreSQL", "MariaDB"})
    void rowsThatAreInsertedAndDeletedWhereReadingIsAreNoErrors(String name) throws Exception {
        JdbcSource.Connections database = Databases.of(name);
        Set<String> rows = new LinkedHashSet<>();
        for (int i = 0; i < 20; i++) {
            rows.add(Integer.toString(10 * i));
        }
        fill(database, "moving", "id int not null", "id", rows);
        StreamSource source = JdbcSource.builder(database, "moving", "id").columns("body").pageRows(2).open();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            List<String> read = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                reader.poll(into);
                read.add(new String(into.record(into.count() - 1).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
            }
            if (!name.equals("SQLite")) {       // which locks a table that is read
                Databases.run(database, "delete from moving where id in (30, 40, 180)",
                        "insert into moving values (35, 'new')");
            }
            while (reader.poll(into) == Found.RECORD) {
                read.add(new String(into.record(into.count() - 1).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
            }
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                expected.add("row " + i);
            }
            if (!name.equals("SQLite")) {
                expected.set(4, "new");
                expected.remove("row 18");
            }
            assertEquals(expected, read);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"id integer primary key", "id integer primary key not null",
        "id text, primary key (id)) without rowid"})
    void aPrimaryKeyOfSqliteThatIsNeverNullIsAKey(String columns) throws Exception {
        JdbcSource.Connections database = Databases.of("SQLite");
        boolean isWithout = columns.endsWith(" without rowid");
        Databases.run(database, "drop table if exists never_null", "create table never_null (body text, "
                + (isWithout ? columns : columns + ")"), "insert into never_null values ('a', 1), ('b', 2), ('c', 3)");
        assertRead(JdbcSource.builder(database, "never_null", "id").columns("body").pageRows(1).open(),
                List.of("a", "b", "c"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"id integer primary key desc, x int", "id int primary key, x int",
        "id text primary key, x int", "id int, x int, primary key (id, x)"})
    void aPrimaryKeyOfSqliteThatMayBeNullIsRefused(String columns) throws Exception {
        JdbcSource.Connections database = Databases.of("SQLite");
        Databases.run(database, "drop table if exists maybe_null", "create table maybe_null (" + columns + ")");
        assertThrows(IllegalArgumentException.class,
                () -> JdbcSource.builder(database, "maybe_null", "id", "x").columns("x").open());
    }

    @Test
    void anIndexOfSqliteForSomeRowsOrOfAnExpressionIsNoKey() throws Exception {
        JdbcSource.Connections database = Databases.of("SQLite");
        Databases.run(database, "drop table if exists some_rows",
                "create table some_rows (a int not null, b int not null)",
                "create unique index some_rows_a on some_rows (a) where b = 1",
                "create unique index some_rows_b on some_rows (b, a + 1)");
        for (String key : List.of("a", "b")) {
            assertThrows(IllegalArgumentException.class,
                    () -> JdbcSource.builder(database, "some_rows", key).columns("a").open(), key);
        }
    }

    /** In a transaction at this level, a connection sees what was there when it began. */
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL", "MariaDB", "DuckDB"})
    void aTableThatGrowsGoesOnInATransactionOfRepeatableReads(String name) throws Exception {
        JdbcSource.Connections database = Databases.of(name);
        fill(database, "growing", "id int not null", "id", Set.of("1"));
        JdbcSource.Connections repeatable = () -> {
            Connection connection = database.open();
            if (!name.equals("DuckDB")) {           // which has this level alone
                connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            }
            connection.setAutoCommit(false);
            return connection;
        };
        StreamSource source = JdbcSource.builder(repeatable, "growing", "id").columns("body").growing().open();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            assertEquals(Found.RECORD, reader.poll(into));
            for (int i = 2; i < 5; i++) {
                assertEquals(Found.NOTHING_YET, reader.poll(into));
                Databases.run(database, "insert into growing values (" + i + ", 'late')");
                assertEquals(Found.RECORD, reader.poll(into));
            }
        }
    }
}
