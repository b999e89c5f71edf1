// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.sampling.KeyedRandom;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.ToLongFunction;

/**
 * Two parts of a dataset, one to train on and one to validate with: each sample is in one of them, by a hash of its
 * key. {@link Dataset#split(double, long)} makes it; {@code docs/spec/split.md} specifies it for ports.
 *
 * {@snippet :
 * Split split = images.split(0.9, 7);
 * DataLoader train = DataLoader.builder(split.train()).batchSize(32).shuffle(42).open();
 * DataLoader validation = DataLoader.builder(split.validation()).batchSize(32).open();
 * }
 *
 * @param train the samples to train on, in the order of the dataset
 * @param validation all others, in the order of the dataset
 */
public record Split(Filtered train, Filtered validation) {

    /** Keeps the draws of splits apart from those of augmentations. */
    private static final String STEP = "penstock.split";
    private static final long STEP_NUMBER = KeyedRandom.step(STEP);

    static Split of(Dataset base, double share, long seed) {
        if (base.size() > 0) {
            base.key(0);
        }
        return of(base, share, seed, "key", view -> hash(base.key(view.index())));
    }

    static Split of(Dataset base, double share, long seed, String field) {
        base.indexOf(field);
        return of(base, share, seed, "'" + field + "'", view -> KeyedRandom.hash(view.tensor(field).segment()));
    }

    private static Split of(Dataset base, double share, long seed, String by, ToLongFunction<SampleView> hash) {
        if (!(share > 0 && share < 1)) {
            throw new IllegalArgumentException("split " + share + ": expected a share between 0 and 1, both excluded");
        }
        long[] words = Filtered.test(base, view -> isTrain(seed, hash.applyAsLong(view), share));
        long[] others = new long[words.length];
        Arrays.setAll(others, w -> ~words[w]);
        if (base.size() % Long.SIZE != 0) {
            others[others.length - 1] &= -1L >>> -base.size();
        }
        long kept = Arrays.stream(words).map(Long::bitCount).sum();
        if (kept == 0 || kept == base.size()) {
            throw new IllegalArgumentException("split " + share + " by " + by + " with seed " + seed + ": "
                    + (kept == 0 ? "no" : "every") + " sample of " + base.size() + " is in the part to train on;"
                    + " expected some in each: take another share or seed, or more data");
        }
        String name = "split " + share + " by " + by + " with seed " + seed;
        return new Split(new Filtered(base, name, words), new Filtered(base, name + ", the rest", others));
    }

    private static long hash(String key) {
        return KeyedRandom.hash(MemorySegment.ofArray(key.getBytes(UTF_8)));
    }

    /** Whether a sample is in the first part: the double that its key draws is less than the share. */
    static boolean isTrain(long seed, long keyHash, double share) {
        KeyedRandom random = new KeyedRandom(seed, 0);
        random.select(keyHash, STEP_NUMBER);
        return random.nextDouble() < share;
    }
}
