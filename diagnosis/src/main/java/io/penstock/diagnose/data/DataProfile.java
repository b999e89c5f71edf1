// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What the batches of a period of a run contained: a snapshot of {@link DataStatistics}, or several of them merged. As
 * a file it is a baseline for later runs; the ranks of one run merge their profiles.
 *
 * <p>Immutable and thread-safe.
 */
public final class DataProfile {

    /** The number of replicates per statistic, which separate a change from sampling noise. */
    public static final int REPLICATES = 16;

    /** Far above any profile, so that a wrong path does not load a whole corpus. */
    private static final long MAX_FILE_BYTES = 1 << 26;

    /** The counts below by their names in files, each by replicate. */
    final Map<String, long[]> tallies = new LinkedHashMap<>();
    final long[] batches = tally("batches");
    final long[] samples = tally("samples");
    final long[] replaced = tally("replaced");
    private final List<FieldProfile> fields;

    DataProfile(List<FieldProfile> fields) {
        this.fields = List.copyOf(fields);
    }

    private long[] tally(String name) {
        return tallies.computeIfAbsent(name, _ -> new long[REPLICATES]);
    }

    DataProfile empty() {
        return new DataProfile(fields.stream().map(FieldProfile::empty).toList());
    }

    /** {@return the fields of a batch, in its order} */
    public List<FieldProfile> fields() {
        return fields;
    }

    /** {@return the number of sampled batches} */
    public long batches() {
        return FieldProfile.sum(batches);
    }

    /** {@return the number of samples in these batches} */
    public long samples() {
        return FieldProfile.sum(samples);
    }

    /**
     * {@return the share of unreadable samples, which were replaced or skipped, 0 to 1; {@code NaN} before any sample}
     */
    public double badShare() {
        return (double) FieldProfile.sum(replaced) / samples();
    }

    /**
     * {@return a new profile, as if one collector had seen both: counts are exact, the rest up to rounding}
     *
     * @param other a profile with the same fields: of another rank, epoch or run
     * @throws DataShapeException if the fields differ
     */
    public DataProfile merge(DataProfile other) {
        checkSameShape(other);
        DataProfile both = empty();
        both.add(this);
        both.add(other);
        return both;
    }

    void add(DataProfile other) {
        tallies.forEach((key, tally) -> FieldProfile.add(tally, Objects.requireNonNull(other.tallies.get(key))));
        for (int f = 0; f < fields.size(); f++) {
            fields.get(f).add(other.fields.get(f));
        }
    }

    DataProfile copy() {
        DataProfile copy = empty();
        copy.add(this);
        return copy;
    }

    void clear() {
        tallies.values().forEach(tally -> Arrays.fill(tally, 0));
        fields.forEach(FieldProfile::clear);
    }

    /**
     * Checks that another profile has the same fields: names, dtypes, kinds, and shapes except for the batch size.
     *
     * @param other the other profile
     * @throws DataShapeException if they differ; names the first such field
     */
    public void checkSameShape(DataProfile other) {
        for (int f = 0; f < Math.max(fields.size(), other.fields.size()); f++) {
            String our = shape(f);
            String their = other.shape(f);
            if (!our.equals(their)) {
                throw new DataShapeException("the data has other fields: found " + their + ", expected " + our);
            }
        }
    }

    private String shape(int field) {
        return field < fields.size() ? fields.get(field).name() + ": " + fields.get(field).shape()
                : "no field " + field;
    }

    /** {@return the profile as JSON on one line: counts by replicate, moments, and histograms without empty buckets} */
    public String toJson() {
        return ProfileJson.write(this);
    }

    /**
     * {@return the profile that a text holds}
     *
     * @param json the output of {@link #toJson}
     * @throws IllegalArgumentException if the text is not a profile of this version; says where and why
     */
    public static DataProfile fromJson(CharSequence json) {
        return ProfileJson.read(JsonFields.parse(json, ProfileJson.WHAT));
    }

    /**
     * Writes the text form to a file atomically.
     *
     * @param file the file; replaced if it exists
     * @throws IOException if it cannot be written; the old file is then unchanged
     */
    public void write(Path file) throws IOException {
        AtomicFile.write(file, toJson() + "\n");
    }

    /**
     * {@return the profile that a file holds}
     *
     * @param file a file from {@link #write}
     * @throws MalformedStoreException if the file is not a profile of this version
     * @throws IOException if it cannot be read
     */
    public static DataProfile read(Path file) throws IOException {
        return JsonFile.read(file, ProfileJson.WHAT, MAX_FILE_BYTES, ProfileJson::read);
    }
}
