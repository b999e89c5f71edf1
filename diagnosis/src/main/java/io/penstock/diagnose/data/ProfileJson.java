// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.memory.DType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The text form of profiles. Reading checks every key, length and range, and rejects unknown ones. */
final class ProfileJson {

    static final String WHAT = "a data profile";

    private static final String VERSION_KEY = "penstock_data_profile";
    private static final long VERSION = 1;
    private static final int MAX_CHANNELS = FieldReader.MAX_CHANNELS;
    /** Limits counts so that sums over replicates and files fit in 63 bits. */
    private static final long MOST_COUNT = 1L << 52;
    private static final int R = DataProfile.REPLICATES;

    static String write(DataProfile profile) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put(VERSION_KEY, VERSION);
        profile.tallies.forEach((name, tally) -> json.put(name, list(tally)));
        json.put("fields", profile.fields().stream().map(ProfileJson::field).toList());
        return Json.write(json);
    }

    private static Map<String, @Nullable Object> field(FieldProfile field) {
        Map<String, @Nullable Object> json = Json.members("name", field.name(), "dtype", field.dtype().toString(),
                "row_shape", list(field.rowShape()), "kind", field.kind().name().toLowerCase(Locale.ROOT),
                "channels", field.channels());
        field.tallies.forEach((name, tally) -> json.put(name, list(tally)));
        json.put("min", field.min <= field.max ? field.min : null);
        json.put("max", field.min <= field.max ? field.max : null);
        if (field.moments != null) {
            json.put("count", list(field.moments.count));
            json.put("mean", Arrays.stream(field.moments.mean).boxed().toList());
            json.put("squares", Arrays.stream(field.moments.squares).boxed().toList());
        }
        if (field.buckets > 0) {
            json.put("histogram", histogram(field));
        }
        return json;
    }

    private static Map<String, @Nullable Object> histogram(FieldProfile field) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        long[] replicates = new long[R];
        for (int bucket = 0; bucket < field.buckets; bucket++) {
            long sum = 0;
            for (int r = 0; r < R; r++) {
                replicates[r] = field.counts[r * field.buckets + bucket];
                sum += replicates[r];
            }
            if (sum > 0) {
                json.put(Integer.toString(bucket), list(replicates));
            }
        }
        return json;
    }

    private static List<Long> list(long[] values) {
        return Arrays.stream(values).boxed().toList();
    }

    static DataProfile read(JsonFields json) {
        json.expect(VERSION_KEY, VERSION);
        DataProfile profile = new DataProfile(json.objects("fields").stream().map(ProfileJson::field).toList());
        profile.tallies.forEach((name, tally) -> FieldProfile.add(tally, counts(json, name, R)));
        json.end();
        return profile;
    }

    private static FieldProfile field(JsonFields json) {
        String name = json.text("name");
        DType dtype = DType.of(json.text("dtype"));
        FieldKind kind = kind(json);
        long[] rowShape = json.wholes("row_shape", 0, MOST_COUNT);
        long channels = json.whole("channels", 1, MAX_CHANNELS);
        FieldProfile field = new FieldProfile(name, dtype, rowShape, kind, (int) channels);
        field.tallies.forEach((key, tally) -> FieldProfile.add(tally, counts(json, key, R)));
        Object min = json.take("min");
        Object max = json.take("max");
        if (min != null || max != null) {
            field.min = json.finite("min", min);
            field.max = json.finite("max", max);
        }
        if (field.moments != null) {
            FieldProfile.add(field.moments.count, counts(json, "count", field.moments.count.length));
            numbers(json, "mean", field.moments.mean);
            numbers(json, "squares", field.moments.squares);
        }
        if (field.buckets > 0) {
            readHistogram(json, field);
        }
        json.end();
        return field;
    }

    private static FieldKind kind(JsonFields json) {
        String text = json.text("kind");
        for (FieldKind kind : FieldKind.values()) {
            if (kind.name().toLowerCase(Locale.ROOT).equals(text)) {
                return kind;
            }
        }
        throw json.wrong("kind", Json.shown(text), "ids, numbers or lengths");
    }

    private static void readHistogram(JsonFields json, FieldProfile field) {
        JsonFields histogram = json.object("histogram");
        for (String key : histogram.names()) {
            int bucket = key.matches("0|[1-9][0-9]{0,5}") ? Integer.parseInt(key) : Integer.MAX_VALUE;
            if (bucket >= field.buckets) {
                throw json.wrong("histogram", Json.shown(key), "buckets below " + field.buckets);
            }
            long[] replicates = counts(histogram, key, R);
            for (int r = 0; r < R; r++) {
                field.counts[r * field.buckets + bucket] = replicates[r];
            }
        }
    }

    private static long[] counts(JsonFields json, String key, int length) {
        long[] counts = json.wholes(key, 0, MOST_COUNT);
        checkLength(json, key, counts.length, length);
        return counts;
    }

    private static void numbers(JsonFields json, String key, double[] into) {
        double[] numbers = json.reals(key);
        checkLength(json, key, numbers.length, into.length);
        System.arraycopy(numbers, 0, into, 0, into.length);
    }

    private static void checkLength(JsonFields json, String key, int found, int expected) {
        if (found != expected) {
            throw json.wrong(key, found + " numbers", expected + " numbers");
        }
    }
}
