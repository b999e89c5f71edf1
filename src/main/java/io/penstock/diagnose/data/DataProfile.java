package io.penstock.diagnose.data;

import io.penstock.io.JsonFile;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What was in the batches of a stretch of a run: a snapshot of {@link DataStatistics}, or several of them merged. As a
 * file it is a baseline for later runs, and what the ranks of one run merge.
 *
 * <p>It is not changed any more, and may be read by any thread.
 */
public final class DataProfile {

    /** Parts that each number is kept for, to tell a change from the noise of a sample. */
    public static final int REPLICATES = 16;

    /** Far above any profile, so that a wrong path does not load a corpus into memory. */
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
     * Batches that were looked at.
     *
     * @return at least 0
     */
    public long batches() {
        return FieldProfile.sum(batches);
    }

    /**
     * Samples in these batches.
     *
     * @return at least 0
     */
    public long samples() {
        return FieldProfile.sum(samples);
    }

    /**
     * The share of samples that could not be read, and were replaced or skipped.
     *
     * @return 0 to 1; {@code NaN} before any sample
     */
    public double badShare() {
        return (double) FieldProfile.sum(replaced) / samples();
    }

    /**
     * This profile and another one's batches together, as if one collector had seen both: counts are exactly the same,
     * means and deviations to rounding.
     *
     * @param other of the same fields: of another rank, epoch or run
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
     * Checks that another profile is of the same fields: names, dtypes, what they are taken for, and shapes, apart from
     * the batch size.
     *
     * @param other the other profile
     * @throws DataShapeException if they differ; names the first field that does
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
     * The text form: counts by replicate, moments, and histograms without their empty buckets.
     *
     * @return JSON on one line
     */
    public String toJson() {
        return ProfileJson.write(this);
    }

    /**
     * Reads the text form back.
     *
     * @param json what {@link #toJson} wrote
     * @return the profile
     * @throws IllegalArgumentException if the text is no profile of this version; says where and why
     */
    public static DataProfile fromJson(CharSequence json) {
        return ProfileJson.read(JsonFields.parse(json, ProfileJson.WHAT));
    }

    /**
     * Writes the text form to a file, whole or not at all.
     *
     * @param file where; an existing file is replaced
     * @throws IOException if it cannot be written; the old file is then as it was
     */
    public void write(Path file) throws IOException {
        AtomicFile.write(file, toJson() + "\n");
    }

    /**
     * Reads a profile from a file.
     *
     * @param file what {@link #write} wrote
     * @return the profile
     * @throws MalformedStoreException if the file holds no profile of this version
     * @throws IOException if it cannot be read
     */
    public static DataProfile read(Path file) throws IOException {
        return JsonFile.read(file, ProfileJson.WHAT, MAX_FILE_BYTES, ProfileJson::read);
    }
}
