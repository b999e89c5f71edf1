// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.internal.PrefixSums;
import java.util.random.RandomGenerator;

/**
 * Which clips of which videos are samples.
 *
 * @param choice how clips are chosen
 * @param number how many there are of a video, or the frames from one window to the next
 * @param starts the first sample of each video
 */
record ClipPlan(Choice choice, int number, PrefixSums starts) {

    /** How clips of a video are chosen. */
    enum Choice {
        /** One, drawn anew in each epoch. */
        RANDOM,
        /** A number of them, evenly spaced. */
        SPACED,
        /** All, from each so many frames on. */
        WINDOWS
    }

    /** Makes the plan for videos or sounds. One that cannot be used is one sample, which is bad. */
    static ClipPlan of(Choice choice, int number, long files, Starts starts) {
        return new ClipPlan(choice, number, PrefixSums.ofLengths(Math.toIntExact(files), file -> switch (choice) {
            case RANDOM -> 1;
            case SPACED -> number;
            case WINDOWS -> windows(number, starts, file);
        }));
    }

    /** Counts the places of a file at which a clip can begin. */
    @FunctionalInterface
    interface Starts {

        /** Returns how many there are: 0 if the file is too short; throws if it cannot be used. */
        int of(long file);
    }

    private static long windows(int step, Starts starts, long file) {
        try {
            return Math.max(0, starts.of(file) - 1) / step + 1;
        } catch (CodecException _) {
            return 1;
        }
    }

    /** {@return the number of samples} */
    long size() {
        return starts.total();
    }

    long video(long sample) {
        return starts.runOf(sample);
    }

    /** Returns the number of a sample among those of its video. */
    long within(long sample) {
        return sample - starts.start(starts.runOf(sample));
    }

    /** Returns the first frame, or sample of sound, of a clip, of as many as are possible; 0 if there are none. */
    int start(long sample, int possible, RandomGenerator random) {
        if (possible < 1) {
            return 0;
        }
        return switch (choice) {
            case RANDOM -> random.nextInt(possible);
            case SPACED -> number == 1 ? (possible - 1) / 2
                    : (int) (within(sample) * (possible - 1) / (number - 1));
            case WINDOWS -> (int) (within(sample) * number);
        };
    }
}
