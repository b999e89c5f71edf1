// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;

/**
 * Clips of videos or sound as samples; {@link Clips} makes it. The other fields of the files'
 * samples are those of the clips.
 *
 * <p>Owns its index: close it when nobody reads it any more.
 */
public final class ClipDataset implements Dataset, AutoCloseable {

    private static final String STEP = "clips";

    private final Dataset base;
    private final int field;
    private final List<TensorSpec> fields;
    private final List<FieldSource> clips;
    private final ClipIndex index;
    private final ClipPlan plan;
    private final LongAdder decoded;
    private final LongAdder used;
    private final String description;

    /** Creates clips: the first map's values are in place of the files, the others' are fields behind all. */
    ClipDataset(Dataset base, int field, List<TensorSpec> specs, List<? extends SampleMap> maps, ClipIndex index,
            ClipPlan plan, LongAdder decoded, LongAdder used, String description) {
        this.base = base;
        this.field = field;
        this.index = index;
        this.plan = plan;
        this.decoded = decoded;
        this.used = used;
        this.description = description;
        List<TensorSpec> changed = new ArrayList<>(base.fields());
        changed.set(field, specs.getFirst());
        changed.addAll(specs.subList(1, specs.size()));
        if (changed.stream().map(TensorSpec::name).distinct().count() < changed.size()) {
            throw new IllegalArgumentException("two fields of one name: " + changed);
        }
        fields = List.copyOf(changed);
        var number = new TensorSpec("number", DType.I64);
        var beside = new FieldSource.Mapped.Beside(new FieldSource.Generated(
                (sample, _, out) -> out.tensor(0).segment().set(JAVA_LONG_UNALIGNED, 0, sample),
                List.of(number), 0, "numbers of clips", LongUnaryOperator.identity()), number);
        // One step: frames and sound of a clip draw the same numbers.
        clips = maps.stream().<FieldSource>map(map -> new FieldSource.Mapped(base.source(field).reindexed(plan::video),
                base.fields().get(field), map, KeyedRandom.step(STEP), beside)).toList();
    }

    @Override
    public long size() {
        return plan.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int of) {
        int map = of == field ? 0 : of - base.fields().size() + 1;
        return map >= 0 && (of == field || map > 0) ? clips.get(map) : base.source(of).reindexed(plan::video);
    }

    @Override
    public String name(long sample) {
        return base.name(plan.video(sample)) + ", clip " + plan.within(sample);
    }

    @Override
    public String key(long sample) {
        return base.key(plan.video(sample));
    }

    @Override
    public long maxLength(int of) {
        return of == field || of >= base.fields().size() ? fields.get(of).dim(0) : base.maxLength(of);
    }

    /** {@return the index of the files} */
    public ClipIndex index() {
        return index;
    }

    /** {@return how many packets were decoded for all clips until now} */
    public long decodedPackets() {
        return decoded.sum();
    }

    /**
     * {@return how many frames were wanted of all clips until now} If {@link #decodedPackets} is many times as much,
     * the videos have too few keys: encode them again, with {@code -g 30}.
     */
    public long usedFrames() {
        return used.sum();
    }

    @Override
    public String fingerprint() {
        return "clips:" + description + ":" + index.fingerprint() + "|" + base.fingerprint();
    }

    @Override
    public void close() {
        index.close();
    }

    @Override
    public String toString() {
        return size() + " clips (" + description + ") of " + base;
    }
}
