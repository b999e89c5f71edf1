// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Conversions of fixtures, and what to compare them by. */
final class Converted {

    private Converted() {
    }

    static ConversionSummary run(Path source, Path target, String format, UnaryOperator<Conversion> settings)
            throws IOException, InterruptedException {
        try (Store store = Store.open(source, OpenOptions.DEFAULT)) {
            return settings.apply(new Conversion(store, target, format)).run();
        }
    }

    static ConversionSummary run(Path source, Path target, String format)
            throws IOException, InterruptedException {
        return run(source, target, format, UnaryOperator.identity());
    }

    static List<Fixtures.Entry> readable(String... kinds) throws IOException {
        return Fixtures.entries(kinds).filter(entry -> entry.expect().equals("read")).toList();
    }

    /** What the manifest says of an array. */
    static String sha256(List<Map<String, Object>> arrays, String name) {
        return arrays.stream().filter(array -> array.get("name").equals(name)).findFirst().orElseThrow()
                .get("sha256").toString();
    }

    static Tensor tokens(TokenStore store) {
        Span span = new Span();
        store.locate(0, store.tokenCount(), span);
        return Tensor.of(span.slice(), store.dtype(), store.tokenCount());
    }

    static byte[] value(RecordStore store, long record, String column) {
        int c = store.columns().stream().map(Column::name).toList().indexOf(column);
        if (c < 0 || !store.isPresent(record, c)) {
            return null;
        }
        Span span = new Span();
        store.locate(record, c, span);
        return span.slice().toArray(ValueLayout.JAVA_BYTE);
    }

    static void assertSameTokens(TokenStore expected, TokenStore found) {
        assertEquals(expected.documentCount(), found.documentCount());
        for (long d = 0; d <= expected.documentCount(); d++) {
            assertEquals(expected.documentStart(d), found.documentStart(d));
        }
        Tensor tokens = tokens(expected);
        Tensor again = tokens(found);
        for (long i = 0; i < expected.tokenCount(); i++) {
            if (tokens.getLong(i) != again.getLong(i)) {
                fail("token " + i + ": expected " + tokens.getLong(i) + ", found " + again.getLong(i));
            }
        }
    }
}
