package io.penstock.diagnose.data;

import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.memory.DType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The text form of profiles. Reading checks every key, length and range, and rejects unknown ones. */
final class ProfileJson {

    static final String WHAT = "a data profile";

    private static final String VERSION_KEY = "penstock_data_profile";
    private static final long VERSION = 1;
    private static final int MAX_CHANNELS = FieldReader.MAX_CHANNELS;
    /** Limits counts so that sums over replicates and files fit in 63 bits. */
    private static final long MOST_COUNT = 1L << 52;
    private static final int R = DataProfile.REPLICATES;

    private ProfileJson() {
    }

    static String write(DataProfile profile) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put(VERSION_KEY, VERSION);
        json.put("batches", list(profile.batches));
        json.put("samples", list(profile.samples));
        json.put("replaced", list(profile.replaced));
        json.put("fields", profile.fields().stream().map(ProfileJson::field).toList());
        return Json.write(json);
    }

    private static Map<String, Object> field(FieldProfile field) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", field.name());
        json.put("dtype", field.dtype().toString());
        json.put("row_shape", list(field.rowShape()));
        json.put("kind", field.kind().name().toLowerCase(Locale.ROOT));
        json.put("channels", field.channels());
        json.put("rows", list(field.rows));
        json.put("values", list(field.values));
        json.put("filled", list(field.filled));
        json.put("places", list(field.places));
        json.put("constant_rows", list(field.constantRows));
        json.put("non_finite", list(field.nonFinite));
        json.put("min", field.min <= field.max ? field.min : null);
        json.put("max", field.min <= field.max ? field.max : null);
        if (field.moments != null) {
            json.put("count", list(field.moments.count));
            json.put("mean", Arrays.stream(field.moments.mean).boxed().toList());
            json.put("squares", Arrays.stream(field.moments.squares).boxed().toList());
        }
        if (field.counts != null) {
            json.put("histogram", histogram(field));
        }
        return json;
    }

    private static Map<String, Object> histogram(FieldProfile field) {
        Map<String, Object> json = new LinkedHashMap<>();
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
        long[] batches = counts(json, "batches", R);
        long[] samples = counts(json, "samples", R);
        long[] replaced = counts(json, "replaced", R);
        List<FieldProfile> fields = json.objects("fields").stream().map(ProfileJson::field).toList();
        json.end();
        DataProfile profile = new DataProfile(fields);
        FieldProfile.add(profile.batches, batches);
        FieldProfile.add(profile.samples, samples);
        FieldProfile.add(profile.replaced, replaced);
        return profile;
    }

    private static FieldProfile field(JsonFields json) {
        String name = json.text("name");
        DType dtype = DType.of(json.text("dtype"));
        FieldKind kind = kind(json);
        long[] rowShape = json.wholes("row_shape", 0, MOST_COUNT);
        long channels = json.whole("channels", 1, MAX_CHANNELS);
        FieldProfile field = new FieldProfile(name, dtype, rowShape, kind, (int) channels);
        FieldProfile.add(field.rows, counts(json, "rows", R));
        FieldProfile.add(field.values, counts(json, "values", R));
        FieldProfile.add(field.filled, counts(json, "filled", R));
        FieldProfile.add(field.places, counts(json, "places", R));
        FieldProfile.add(field.constantRows, counts(json, "constant_rows", R));
        FieldProfile.add(field.nonFinite, counts(json, "non_finite", R));
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
        if (field.counts != null) {
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
