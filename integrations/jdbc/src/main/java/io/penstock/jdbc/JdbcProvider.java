// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.sql.DriverManager;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Opens a {@link JdbcSource} by name: the driver's URL, then {@code #table=T&key=K,…&columns=C,…}, and, if wanted,
 * {@code where=CONDITION}, {@code bounds=N,…}, {@code page=ROWS} and {@code paging=fetch-first}.
 */
public final class JdbcProvider implements StreamSource.SourceProvider {

    /** For {@link java.util.ServiceLoader}. */
    public JdbcProvider() {
    }

    @Override
    public String scheme() {
        return "jdbc";
    }

    @Override
    public StreamSource open(String location, Map<String, String> settings, StreamEnd end) throws IOException {
        Map<String, String> left = new HashMap<>(settings);
        JdbcSource.Builder builder = JdbcSource.builder(() -> DriverManager.getConnection(location),
                required(location, "table", left.remove("table")),
                required(location, "key", left.remove("key")).split(","));
        builder.columns(required(location, "columns", left.remove("columns")).split(","));
        String where = left.remove("where");
        if (where != null) {
            builder.where(where);
        }
        String bounds = left.remove("bounds");
        if (bounds != null) {
            builder.bounds(Stream.of(bounds.split(",")).mapToLong(Long::parseLong).toArray());
        }
        String page = left.remove("page");
        if (page != null) {
            builder.pageRows(Integer.parseInt(page));
        }
        String paging = left.remove("paging");
        if (paging != null) {
            if (!paging.equals("fetch-first")) {
                throw new IllegalArgumentException("paging: found '" + paging + "', expected fetch-first");
            }
            builder.paging(JdbcSource.Paging.FETCH_FIRST);
        }
        if (!left.isEmpty()) {
            throw new IllegalArgumentException("found settings " + left.keySet()
                    + ", expected table, key, columns, where, bounds, page or paging");
        }
        return (end == StreamEnd.WAIT ? builder.growing() : builder).open();
    }

    private static String required(String location, String name, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException(location + ": found no " + name
                    + ", expected #table=T&key=K&columns=C behind the URL");
        }
        return value;
    }
}
