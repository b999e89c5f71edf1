// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.internal.Scratch;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Steps of sound one behind the other, which a loader's workers apply to a field. What the steps draw depends on the
 * seed, the epoch, the sample's position and the step's name alone.
 *
 * {@snippet :
 * var whisper = SoundSteps.of(FixedLength.of(480_000), LogMel.whisper(80), SpecAugment.of(80).bands(2, 27));
 * Dataset mel = whisper.map(dataset, "flac");             // f32[*] of 16 kHz becomes f32[80, 3000]
 * }
 *
 * <p>Immutable and thread-safe.
 */
public final class SoundSteps {

    static final String NAME = "penstock.sound";

    private final List<SoundStep> steps;
    private final String name;

    private SoundSteps(List<SoundStep> steps, String name) {
        this.steps = steps;
        this.name = name;
    }

    /**
     * Puts steps in order.
     *
     * @param steps the steps, the first first
     * @return the steps
     * @throws IllegalArgumentException if there are none
     */
    public static SoundSteps of(SoundStep... steps) {
        if (steps.length == 0) {
            throw new IllegalArgumentException("found no steps, expected one or more");
        }
        return new SoundSteps(List.of(steps), NAME);
    }

    /**
     * {@return the same steps, with draws of their own}
     *
     * @param other a name instead of {@code penstock.sound}; steps of the same names draw the same
     */
    public SoundSteps named(String other) {
        return new SoundSteps(steps, other);
    }

    /**
     * The field that the steps make.
     *
     * @param in the field that they are given
     * @return the field, with the same name
     * @throws IllegalArgumentException if a step does not take what the one before makes; gives the reason
     */
    public TensorSpec after(TensorSpec in) {
        TensorSpec field = in;
        for (SoundStep step : steps) {
            field = step.after(field);
        }
        return field;
    }

    /**
     * Applies the steps to a field of a dataset, in a loader's workers.
     *
     * @param dataset the dataset
     * @param field the field's name: {@code f32} samples
     * @return the dataset with the results in place of the field
     * @throws IllegalArgumentException if there is no such field, a step does not take what the one before makes, or
     *     lengths vary that steps change: a batch must know a sample's size before it is decoded
     */
    public Dataset map(Dataset dataset, String field) {
        TensorSpec in = dataset.fields().get(dataset.indexOf(field));
        TensorSpec out = after(in);
        if (out.isVariable() && !keepLength(in)) {
            throw new IllegalArgumentException("found " + out + " of " + in + ", expected one length "
                    + "(FixedLength makes it; SoundDecoder.then takes steps that change varying lengths)");
        }
        List<String> names = steps.stream().map(Object::toString).toList();
        return dataset.map(field, out, String.join(" | ", names), name, new Steps(this, in));
    }

    /** Whether the first dimension of the result is that of what the steps are given. */
    private boolean keepLength(TensorSpec in) {
        long[] shape = in.shape();
        shape[0] = 99_991;
        return after(new TensorSpec(in.name(), in.dtype(), shape)).dim(0) == shape[0];
    }

    /** {@return what applies the steps as one, for one worker, which closes it} */
    public SoundStep.Applier open() {
        return new Chain(this);
    }

    /**
     * How many values the steps make.
     *
     * @param values the number of values that they are given
     * @return the number of values of the result
     * @throws IOException if a step does not take so many
     */
    public long valuesAfter(long values) throws IOException {
        long count = values;
        for (SoundStep step : steps) {
            count = step.valuesAfter(count);
        }
        return count;
    }

    /** {@return whether a step draws random numbers} */
    public boolean draw() {
        return steps.stream().anyMatch(SoundStep::draws);
    }

    /** The number of each step's name: the pipeline's name and the step's, with {@code .2} for the second of a name. */
    private long[] numbers() {
        Map<String, Integer> seen = new HashMap<>();
        long[] numbers = new long[steps.size()];
        for (int i = 0; i < numbers.length; i++) {
            String step = steps.get(i).name();
            int count = seen.merge(step, 1, Integer::sum);
            numbers[i] = KeyedRandom.step(name + "." + step + (count == 1 ? "" : "." + count));
        }
        return numbers;
    }

    @Override
    public String toString() {
        return steps.toString();
    }

    /** The steps as a map of a dataset's field. */
    private record Steps(SoundSteps of, TensorSpec in) implements SampleMap {

        @Override
        public void map(Tensor in, RandomGenerator random, Tensor out) throws IOException {
            try (Chain chain = new Chain(of)) {
                chain.map(in.segment(), 0, in.segment().byteSize(), random, out.segment(), 0,
                        out.segment().byteSize(), PartClock.NONE);
            }
        }

        @Override
        public List<String> parts() {
            List<String> parts = new ArrayList<>();
            for (SoundStep step : of.steps) {
                String part = step.name();
                for (int n = 2; parts.contains(part); n++) {
                    part = step.name() + "." + n;
                }
                parts.add(part);
            }
            return List.copyOf(parts);
        }

        /** True: only Java code reads the samples. */
        @Override
        public boolean readsInPlace() {
            return true;
        }

        @Override
        public Optional<Mapper> open() {
            return Optional.of(new Chain(of));
        }
    }

    /** The appliers of the steps, and the values between two of them. */
    private static final class Chain implements SoundStep.Applier, SampleMap.Mapper {

        private final SoundSteps of;
        private final long[] numbers;
        private final List<SoundStep.Applier> appliers = new ArrayList<>();
        private final Scratch[] between = {new Scratch(), new Scratch()};

        Chain(SoundSteps of) {
            this.of = of;
            numbers = of.numbers();
            for (SoundStep step : of.steps) {
                appliers.add(step.open());
            }
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException {
            apply(in, inOffset, values, random, out, outOffset, PartClock.NONE);
        }

        @Override
        public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random, MemorySegment out,
                long outOffset, long outBytes, PartClock clock) throws IOException {
            long values = inBytes / DType.F32.byteSize();
            long made = of.valuesAfter(values) * Float.BYTES;
            if (made != outBytes) {
                throw new CodecException("sound that becomes " + made + " bytes", String.valueOf(outBytes));
            }
            apply(in, inOffset, values, random, out, outOffset, clock);
        }

        private void apply(MemorySegment in, long inOffset, long values, RandomGenerator random,
                MemorySegment out, long outOffset, PartClock clock) throws IOException {
            MemorySegment from = in;
            long fromOffset = inOffset;
            long count = values;
            int last = numbers.length - 1;
            for (int i = 0; i <= last; i++) {
                SoundStep step = of.steps.get(i);
                if (step.draws() && random instanceof KeyedRandom keyed) {
                    keyed.select(numbers[i]);
                }
                long made = step.valuesAfter(count);
                MemorySegment to = i == last ? out : between[i % 2].of(made * Float.BYTES);
                long toOffset = i == last ? outOffset : 0;
                appliers.get(i).apply(from, fromOffset, count, random, to, toOffset);
                clock.done(i);
                from = to;
                fromOffset = toOffset;
                count = made;
            }
        }

        @Override
        public void close() {
            appliers.forEach(SoundStep.Applier::close);
            between[0].close();
            between[1].close();
        }
    }
}
