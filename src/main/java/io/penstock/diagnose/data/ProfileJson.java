package io.penstock.diagnose.data;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The text form of profiles. Reading trusts nothing: every key, length and range is checked, and none may be more. */
final class ProfileJson {

    private static final String VERSION_KEY = "penstock_data_profile";
    private static final long VERSION = 1;
    private static final int MAX_CHANNELS = FieldReader.MAX_CHANNELS;
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

    static DataProfile read(CharSequence text) {
        try {
            Fields json = new Fields(Json.parse(text), "profile");
            if (!Long.valueOf(VERSION).equals(json.take(VERSION_KEY))) {
                throw new IllegalArgumentException("not a data profile of version " + VERSION);
            }
            long[] batches = json.counts("batches", R);
            long[] samples = json.counts("samples", R);
            long[] replaced = json.counts("replaced", R);
            List<FieldProfile> fields = new ArrayList<>();
            for (Object field : Json.array(json.take("fields"))) {
                fields.add(field(new Fields(field, "field " + fields.size())));
            }
            json.end();
            DataProfile profile = new DataProfile(fields);
            FieldProfile.add(profile.batches, batches);
            FieldProfile.add(profile.samples, samples);
            FieldProfile.add(profile.replaced, replaced);
            return profile;
        } catch (JsonException e) {
            throw new IllegalArgumentException("not a data profile: " + e.getMessage(), e);
        }
    }

    private static FieldProfile field(Fields json) {
        String name = json.text("name");
        DType dtype = DType.of(json.text("dtype"));
        FieldKind kind = kind(json.text("kind"));
        long[] rowShape = json.counts("row_shape", -1);
        long channels = json.count(json.take("channels"), "channels");
        if (channels < 1 || channels > MAX_CHANNELS) {
            throw json.wrong("channels", channels, "1 to " + MAX_CHANNELS);
        }
        FieldProfile field = new FieldProfile(name, dtype, rowShape, kind, (int) channels);
        FieldProfile.add(field.rows, json.counts("rows", R));
        FieldProfile.add(field.values, json.counts("values", R));
        FieldProfile.add(field.filled, json.counts("filled", R));
        FieldProfile.add(field.places, json.counts("places", R));
        FieldProfile.add(field.constantRows, json.counts("constant_rows", R));
        FieldProfile.add(field.nonFinite, json.counts("non_finite", R));
        Object min = json.take("min");
        Object max = json.take("max");
        if (min != null || max != null) {
            field.min = json.number(min, "min");
            field.max = json.number(max, "max");
        }
        if (field.moments != null) {
            FieldProfile.add(field.moments.count, json.counts("count", field.moments.count.length));
            json.numbers("mean", field.moments.mean);
            json.numbers("squares", field.moments.squares);
        }
        if (field.counts != null) {
            readHistogram(json, field);
        }
        json.end();
        return field;
    }

    private static FieldKind kind(String text) {
        for (FieldKind kind : FieldKind.values()) {
            if (kind.name().toLowerCase(Locale.ROOT).equals(text)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("not a data profile: found kind '" + text
                + "', expected ids, numbers or lengths");
    }

    private static void readHistogram(Fields json, FieldProfile field) {
        Map<String, Object> histogram = Json.object(json.take("histogram"));
        for (String key : histogram.keySet()) {
            int bucket = key.matches("0|[1-9][0-9]{0,5}") ? Integer.parseInt(key) : Integer.MAX_VALUE;
            if (bucket >= field.buckets) {
                throw json.wrong("histogram", key, "buckets below " + field.buckets);
            }
            long[] replicates = json.counts(histogram.get(key), "bucket " + key, R);
            for (int r = 0; r < R; r++) {
                field.counts[r * field.buckets + bucket] = replicates[r];
            }
        }
    }

    /** The members of an object, each taken once. */
    private static final class Fields {
        private final Map<String, Object> members;
        private final String what;

        Fields(Object json, String what) {
            this.members = new LinkedHashMap<>(Json.object(json));
            this.what = what;
        }

        Object take(String key) {
            if (!members.containsKey(key)) {
                throw new IllegalArgumentException("not a data profile: " + what + " has no " + key);
            }
            return members.remove(key);
        }

        void end() {
            if (!members.isEmpty()) {
                throw new IllegalArgumentException("not a data profile: " + what + " has unknown " + members.keySet());
            }
        }

        String text(String key) {
            Object value = take(key);
            if (value instanceof String text) {
                return text;
            }
            throw wrong(key, value, "a string");
        }

        long count(Object value, String key) {
            // Sums over replicates and files stay within 63 bits.
            if (value instanceof Long number && number >= 0 && number <= 1L << 52) {
                return number;
            }
            throw wrong(key, value, "a count up to 2^52");
        }

        double number(Object value, String key) {
            if (value instanceof Long || value instanceof Double d && Double.isFinite(d)) {
                return ((Number) value).doubleValue();
            }
            throw wrong(key, value, "a finite number");
        }

        /** Counts; of any number if {@code length} is negative. */
        long[] counts(String key, int length) {
            return counts(take(key), key, length);
        }

        long[] counts(Object value, String key, int length) {
            List<Object> list = Json.array(value);
            if (length >= 0 && list.size() != length) {
                throw wrong(key, list.size() + " numbers", length + " numbers");
            }
            return list.stream().mapToLong(each -> count(each, key)).toArray();
        }

        void numbers(String key, double[] into) {
            List<Object> list = Json.array(take(key));
            if (list.size() != into.length) {
                throw wrong(key, list.size() + " numbers", into.length + " numbers");
            }
            for (int i = 0; i < into.length; i++) {
                into[i] = number(list.get(i), key);
            }
        }

        IllegalArgumentException wrong(String key, Object found, String expected) {
            return new IllegalArgumentException("not a data profile: " + what + ", " + key + ": found " + found
                    + ", expected " + expected);
        }
    }
}
