package io.penstock.diagnose.data;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.index.JsonFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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

    final long[] batches = new long[REPLICATES];
    final long[] samples = new long[REPLICATES];
    final long[] replaced = new long[REPLICATES];
    private final List<FieldProfile> fields;

    DataProfile(List<FieldProfile> fields) {
        this.fields = List.copyOf(fields);
    }

    DataProfile empty() {
        return new DataProfile(fields.stream().map(FieldProfile::empty).toList());
    }

    /**
     * The fields of a batch.
     *
     * @return in the batch's order
     */
    public List<FieldProfile> fields() {
        return fields;
    }

    /**
     * The number of sampled batches.
     *
     * @return at least 0
     */
    public long batches() {
        return FieldProfile.sum(batches);
    }

    /**
     * The number of samples in these batches.
     *
     * @return at least 0
     */
    public long samples() {
        return FieldProfile.sum(samples);
    }

    /**
     * The share of unreadable samples, which were replaced or skipped.
     *
     * @return 0 to 1; {@code NaN} before any sample
     */
    public double badShare() {
        return (double) FieldProfile.sum(replaced) / samples();
    }

    /**
     * Merges this profile with another, as if one collector had seen both: counts are exact, the rest up to rounding.
     *
     * @param other a profile with the same fields: of another rank, epoch or run
     * @return a new profile
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
        FieldProfile.add(batches, other.batches);
        FieldProfile.add(samples, other.samples);
        FieldProfile.add(replaced, other.replaced);
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
        for (long[] each : new long[][] {batches, samples, replaced}) {
            Arrays.fill(each, 0);
        }
        fields.forEach(FieldProfile::clear);
    }

    /**
     * Checks that another profile has the same fields: names, dtypes, kinds, and shapes except for the batch size.
     *
     * @param other the other profile
     * @throws DataShapeException if they differ; names the first such field
     */
    public void checkSameShape(DataProfile other) {
        List<String> ours = new ArrayList<>();
        List<String> theirs = new ArrayList<>();
        fields.forEach(field -> ours.add(field.name() + ": " + field.shape()));
        other.fields.forEach(field -> theirs.add(field.name() + ": " + field.shape()));
        for (int f = 0; f < Math.max(ours.size(), theirs.size()); f++) {
            String our = f < ours.size() ? ours.get(f) : "no field " + f;
            String their = f < theirs.size() ? theirs.get(f) : "no field " + f;
            if (!our.equals(their)) {
                throw new DataShapeException("the data has other fields: found " + their + ", expected " + our);
            }
        }
    }

    /**
     * Writes the profile as text: counts by replicate, moments, and histograms without empty buckets.
     *
     * @return JSON on one line
     */
    public String toJson() {
        return ProfileJson.write(this);
    }

    /**
     * Reads the text form.
     *
     * @param json the output of {@link #toJson}
     * @return the profile
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
     * Reads a profile from a file.
     *
     * @param file a file from {@link #write}
     * @return the profile
     * @throws MalformedStoreException if the file is not a profile of this version
     * @throws IOException if it cannot be read
     */
    public static DataProfile read(Path file) throws IOException {
        return JsonFile.read(file, ProfileJson.WHAT, MAX_FILE_BYTES, ProfileJson::read);
    }
}
