// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static io.penstock.memory.LittleEndian.I32;

import io.penstock.sampling.KeyedRandom;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * Draws crops and flips for {@link ImageTransform} from the epoch and the position in its order: a sample is cropped
 * the same in any batch, rank or worker. {@code docs/spec/randomness.md} fixes the draws for ports.
 *
 * @param imageHeight H
 * @param imageWidth W
 * @param cropHeight h, 1 to H
 * @param cropWidth w, 1 to W
 * @param flipProbability the probability of a horizontal flip, 0 to 1
 */
public record RandomCrop(int imageHeight, int imageWidth, int cropHeight, int cropWidth, double flipProbability) {
    /** Bytes of one image's parameters: four i32, the last one 0. */
    public static final int PARAMETER_BYTES = 4 * Integer.BYTES;

    /** The step name of these draws, which makes them independent of other draws for the same sample. */
    public static final String STEP = "penstock.crop";

    private static final long STEP_NUMBER = KeyedRandom.step(STEP);

    /**
     * Checks the sizes.
     *
     * @throws IllegalArgumentException if a crop is empty or larger than the image, or the probability not in 0 to 1
     */
    public RandomCrop {
        if (cropHeight < 1 || cropHeight > imageHeight || cropWidth < 1 || cropWidth > imageWidth
                || !(flipProbability >= 0 && flipProbability <= 1)) {
            throw new IllegalArgumentException("crops of " + cropHeight + " x " + cropWidth + " of images of "
                    + imageHeight + " x " + imageWidth + ", flipped with probability " + flipProbability);
        }
    }

    /**
     * Draws one image's parameters.
     *
     * @param random the source of draws, with the run's seed and the epoch; left at this sample
     * @param position the sample's position in the epoch's order: {@code batch.position(row)}
     * @param parameters destination of {@value #PARAMETER_BYTES} bytes, in pinned memory to be copied to the device
     * @param offset the first byte there
     */
    public void draw(KeyedRandom random, long position, MemorySegment parameters, long offset) {
        random.select(position, STEP_NUMBER);
        parameters.set(I32, offset, top(random));
        parameters.set(I32, offset + 4, left(random));
        parameters.set(I32, offset + 8, flip(random) ? 1 : 0);
        parameters.set(I32, offset + 12, 0);
    }

    /** The first draw of three. */
    int top(RandomGenerator random) {
        return random.nextInt(imageHeight - cropHeight + 1);
    }

    /** The second. */
    int left(RandomGenerator random) {
        return random.nextInt(imageWidth - cropWidth + 1);
    }

    /** The last. */
    boolean flip(RandomGenerator random) {
        return random.nextDouble() < flipProbability;
    }
}
